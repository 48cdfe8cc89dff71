"""A sweep from its options to its exit code."""

import contextlib
import dataclasses
import sys
from collections.abc import Mapping
from typing import Any

from racer_env.errors import ConfigError
from training.console.arguments import LOGS_DIR, MODELS_DIR
from training.console.interruption import Interruption
from training.console.messages import command_line, count_of, in_short, note, say
from training.console.parser import ANSWER_IS_NO, DONE, INTERRUPTED
from training.console.tracks import simulated_track
from training.console.warm_up import WarmUp
from training.runs.provenance import surroundings
from training.sweeps.bases import Base, check_unchanged, make_bases
from training.sweeps.coordinator import Coordinator
from training.sweeps.folders import choose_name, claim, hold_sweep, read_sweep, write_sweep
from training.sweeps.local_pool import LocalPool, cores
from training.sweeps.objective import OBJECTIVES
from training.sweeps.options import DEFAULT_TRIALS, SweepOptions, parse
from training.sweeps.pool import Pool
from training.sweeps.results import commands, counts_in_words, results_of, table, write_best
from training.sweeps.study import Study
from training.sweeps.trial import Sweep, starts

EVALUATIONS = 4  # of a run, at least, for trials to end early


def carry_out(options: SweepOptions) -> int:
    """Carry out a sweep, or go on with one, and return the script's exit code.

    Raises:
        RacerError: What was asked for is wrong, or cannot be gone on with.
        OSError: A folder cannot be made or written to.
    """
    with contextlib.ExitStack() as stack:
        start = _begin if options.resume is None else _resume
        sweep, study, pool = start(options, stack)
        runs = sweep.trials * len(sweep.seeds)
        say(
            f"sweep {sweep.name!r}: {count_of(sweep.trials, 'trial')} of {in_short([*sweep.bases])} with "
            f"{count_of(len(sweep.seeds), 'seed')} each, {count_of(min(pool.workers, runs), 'run')} side by side, "
            f"judged by the {sweep.objective.about}"
        )
        try:
            if options.ray is None and (study.running() or study.asked < sweep.trials):
                _prepare(sweep)
            with Interruption():
                Coordinator(sweep, study, pool).run()
        except KeyboardInterrupt as interrupted:  # Ray raises one of its own
            print("interrupted", file=sys.stderr)
            say(f"{counts_in_words(study)} of {sweep.trials} trials done")
            say(f"go on with: {_resume_command(sweep, options.ray)}", limit=None)
            return getattr(interrupted, "exit_code", INTERRUPTED)
        return _say_end(sweep, study)


def _open_pool(options: SweepOptions) -> Pool:
    """Return what trains the runs: this machine, or a cluster.

    Raises:
        RacerError: The cluster cannot be used.
    """
    if options.ray is None:
        return LocalPool(options.workers or cores())
    from training.sweeps.cluster.ray_pool import RayPool  # only who asks for a cluster needs Ray

    return RayPool(options.ray, options.workers)


def _prepare(sweep: Sweep) -> None:
    """Compile the simulator here if need be: each of the workers would compile it for itself, and say nothing."""
    run = next(iter(sweep.bases.values())).run
    with WarmUp(simulated_track(None, run.tracks[0])):
        pass


def _begin(options: SweepOptions, stack: contextlib.ExitStack) -> tuple[Sweep, Study, Pool]:
    """Return a new sweep with what trains its runs, once everything in it was looked at."""
    objective = OBJECTIVES[options.objective]
    bases = {base.label: base for base in make_bases(options, objective)}
    first, trials = _first_settings(options, bases)
    note_rare_evaluations(options, bases)
    note_other_tracks(bases)
    note_settings_outside(options, bases)
    if options.name is not None:
        choose_name(options.name, options.models_dir, options.logs_dir)  # a word about it before a cluster is asked
    pool = stack.enter_context(_open_pool(options))  # before anything is written, as a cluster may be out of reach
    name = claim(options.name, options.models_dir, options.logs_dir, stack)
    sweep = _make_sweep(options, name, bases, trials)
    document = {
        "sweep": name,
        "command": command_line(["python", "-m", "training.sweep", *options.arguments]),
        **surroundings(),
        "arguments": options.arguments,
        "objective": options.objective,
        "trials": trials,
        "bases": [base.as_document() for base in bases.values()],
    }
    write_sweep(sweep.logs_dir, document)
    study = _open_study(options, sweep)
    study.enqueue(first)
    return sweep, study, pool


def note_rare_evaluations(options: SweepOptions, bases: Mapping[str, Base]) -> None:
    """Say so if runs are evaluated too rarely for bad trials to end early."""
    if options.search is None or options.pruner == "none":
        return
    for base in bases.values():
        run = base.run
        if run.eval_freq * EVALUATIONS > run.steps:
            note(
                f"{base.label}: with an evaluation every {run.eval_freq:,} steps of {run.steps:,}, bad trials end late "
                f"or never; --eval-freq {max(run.steps // 10, 1)} lets them end early"
            )


def note_other_tracks(bases: Mapping[str, Base]) -> None:
    """Say so if runs are judged on different tracks, as those of presets may be."""
    by_tracks: dict[tuple[str, ...], str] = {}
    for label, base in bases.items():
        by_tracks.setdefault(tuple(track.id for track in base.run.eval_tracks), label)
    if len(by_tracks) > 1:
        note(
            f"{in_short([*by_tracks.values()])} are judged on different tracks, so their figures do not compare; "
            "--eval-track-id names the same ones for all"
        )


def note_settings_outside(options: SweepOptions, bases: Mapping[str, Base]) -> None:
    """Say which bases are not tried as they are, as the search space does not hold them."""
    if options.search is None or options.sampler == "grid":
        return
    for label, base in bases.items():
        if base.space.place_of(base.run.settings, base.run.config, "") is None:
            note(f"{label}: the search space does not hold its settings as they are, so the first trial is another one")


def _first_settings(options: SweepOptions, bases: Mapping[str, Base]) -> tuple[list[dict[str, Any]], int]:
    """Return the settings that a sweep begins with, and how many trials it has.

    Raises:
        ConfigError: There are more settings than trials.
    """
    is_grid = options.sampler == "grid"
    first = [*starts(bases, is_grid)]
    if options.search is None:
        return first, len(first)
    trials = options.trials or (len(first) if is_grid else DEFAULT_TRIALS)
    if is_grid and trials != len(first):
        raise ConfigError(f"the grid has {count_of(len(first), 'setting')}, got --trials {trials}; leave it out")
    return first[:trials], trials


def _resume(options: SweepOptions, stack: contextlib.ExitStack) -> tuple[Sweep, Study, Pool]:
    """Return a sweep that was begun before with what trains its runs, once it was looked at whether it is the same."""
    name = str(options.resume)
    document = read_sweep(options.logs_dir / name)
    began = dataclasses.replace(parse(document["arguments"]), models_dir=options.models_dir, logs_dir=options.logs_dir)
    spaces = {base["label"]: base["search_space"] for base in document["bases"]}
    bases = make_bases(began, OBJECTIVES[began.objective], spaces)
    check_unchanged(document["bases"], bases)
    trials = _trials_of(document, options, began)
    pool = stack.enter_context(_open_pool(options))
    stack.enter_context(hold_sweep(name, options.models_dir, options.logs_dir))
    _note_other_surroundings(document)
    if trials != document["trials"]:
        write_sweep(options.logs_dir / name, {**document, "trials": trials})
    sweep = _make_sweep(began, name, {base.label: base for base in bases}, trials)
    study = _open_study(began, sweep)
    study.enqueue(_first_settings(began, sweep.bases)[0])
    say(f"going on with the sweep {name!r}: {counts_in_words(study)} of {trials} trials done")
    return sweep, study, pool


def _trials_of(document: dict[str, Any], options: SweepOptions, began: SweepOptions) -> int:
    """Return how many trials a sweep that goes on is to have.

    Raises:
        ConfigError: There can be no others, or fewer are asked for than before.
    """
    before: int = document["trials"]
    trials = options.trials or before
    has_all = f"the sweep {options.resume!r} has {count_of(before, 'trial')}"
    if trials != before and (began.search is None or began.sampler == "grid"):
        raise ConfigError(f"{has_all}, which are all; leave out --trials")
    if trials < before:
        raise ConfigError(f"{has_all}, got --trials {trials}; name more, or leave it out")
    return trials


def _note_other_surroundings(document: dict[str, Any]) -> None:
    now = surroundings()
    others = [name for name in ("python", "packages", "commit") if document.get(name) != now[name]]
    if others:
        note(f"{' and '.join(others)} are not those that the sweep began with; trials of both are compared")


def _make_sweep(options: SweepOptions, name: str, bases: dict[str, Base], trials: int) -> Sweep:
    objective = OBJECTIVES[options.objective]
    folders = options.models_dir / name, options.logs_dir / name
    return Sweep(name, bases, options.all_seeds, objective, trials, *folders)


def _open_study(options: SweepOptions, sweep: Sweep) -> Study:
    pruner = options.pruner if options.search is not None else "none"
    return Study(sweep.logs_dir, sweep.objective, options.sampler, pruner, options.seed, sweep.trials)


def _resume_command(sweep: Sweep, ray: str | None) -> str:
    folders = (("--models-dir", sweep.models_dir, MODELS_DIR), ("--logs-dir", sweep.logs_dir, LOGS_DIR))
    flags = [part for flag, own, usual in folders if own.parent != usual for part in (flag, str(own.parent))]
    flags += ["--ray", ray] if ray is not None else []
    return command_line(["python", "-m", "training.sweep", "--resume", sweep.name, *flags])


def _say_end(sweep: Sweep, study: Study) -> int:
    say(f"{counts_in_words(study)} of {sweep.trials} trials done")
    results = results_of(sweep, study)
    if not results:
        failed = [trial.user_attrs["why_failed"] for trial in study.trials if "why_failed" in trial.user_attrs]
        if len(failed) == len(study.trials):
            print(f"error: all trials failed; the last one: {failed[-1]}", file=sys.stderr)
        else:
            say("no trial has clean laps; train longer, with more --timesteps")
        return ANSWER_IS_NO
    for line in table(sweep, study, results):
        say(line)
    say(f"the best setting is a preset: {write_best(sweep, results[0])}")
    for line in commands(sweep, results[0]):
        say(line, limit=None)
    return DONE
