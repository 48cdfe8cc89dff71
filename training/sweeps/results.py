"""What a sweep has found: its trials from the best to the worst, and the best one as a preset."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optuna.trial import FrozenTrial, TrialState

from racer_env.config import AiConfig
from training.checkpoints.files import BEST, model_path
from training.checkpoints.writing import replacing
from training.console.arguments import LOGS_DIR
from training.console.messages import command_line, count_of, in_short
from training.runs.evaluations import read_evaluations
from training.runs.options import defaults
from training.sweeps.bases import Base
from training.sweeps.folders import BEST_NAME
from training.sweeps.objective import LAP_TIME, best_of, is_whole
from training.sweeps.study import Study
from training.sweeps.trial import Sweep, settings_in_words

MAX_SHOWN = 10  # trials in the table
FAR_OFF_ROAD = 0.1  # share of its time off the road from which a driver is told
COUNTED = (
    ("done", TrialState.COMPLETE),
    ("ended early", TrialState.PRUNED),
    ("failed", TrialState.FAIL),
)


@dataclass(frozen=True)
class Result:
    """A trial that has ended with a value.

    Attributes:
        number: Its number.
        base: What it stands on.
        hyperparameters, weights: What was tried.
        values: The value of each run by seed; None has not got there, or failed.
        median: What it is judged by.
    """

    number: int
    base: Base
    hyperparameters: dict[str, Any]
    weights: dict[str, Any]
    values: dict[int, float | None]
    median: float

    def run(self, seed: int) -> str:
        """Return the name of the run of a seed."""
        return f"trial_{self.number:04d}_seed_{seed}"


def results_of(sweep: Sweep, study: Study) -> list[Result]:
    """Return the trials that have a value, the best first; of equals, the earlier."""
    found = [_result(sweep, trial) for trial in study.trials if trial.state == TrialState.COMPLETE]
    return sorted((each for each in found if each is not None), key=lambda each: sweep.objective.rank(each.median))


def _result(sweep: Sweep, trial: FrozenTrial) -> Result | None:
    known = trial.user_attrs
    values = {int(seed): run["value"] for seed, run in known["runs"].items()}
    median = sweep.objective.median(values.values())
    if median is None:
        return None
    base = sweep.bases[known["label"]]
    return Result(trial.number, base, known["hyperparameters"], known["weights"], values, median)


def counts_in_words(study: Study) -> str:
    """Return how many trials have ended, and how."""
    states = [trial.state for trial in study.trials]
    counts = {words: states.count(state) for words, state in COUNTED}
    others = [f"{number} {words}" for words, number in counts.items() if number and words != "done"]
    return f"{sum(counts.values())}" + (f" ({', '.join(others)})" if others else "")


def table(sweep: Sweep, study: Study, results: list[Result]) -> Iterator[str]:
    """Yield the lines of a table of the best trials, and what its figures do not show of the best one's drivers."""
    short = sweep.objective.in_short
    lap = None if sweep.objective is LAP_TIME else LAP_TIME
    header = ["trial", f"{sweep.objective.title}, median", *(f"seed {seed}" for seed in sweep.seeds)]
    header += [*([lap.title] if lap else []), "setting"]
    rows = [
        [
            *(str(each.number), short(each.median), *map(short, each.values.values())),
            *([lap.in_short(_lap_time(sweep, each))] if lap else []),
            _setting(sweep, each),
        ]
        for each in results[:MAX_SHOWN]
    ]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, *rows):
        cells = [cell.rjust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        yield "  ".join([*cells, row[-1]])
    if len(results) > MAX_SHOWN:
        yield f"and {count_of(len(results) - MAX_SHOWN, 'more trial')}"
    unranked = sum(trial.state == TrialState.COMPLETE for trial in study.trials) - len(results)
    if unranked:
        yield f"{count_of(unranked, 'trial')} without clean laps"
    faults = _faults_of(sweep, results[0])
    if faults:
        yield f"not all drivers of the best setting lap cleanly and on the road: {in_short(faults)}"


def _lap_time(sweep: Sweep, result: Result) -> float | None:
    """Return the median lap time of a trial's best models."""
    found = (read_evaluations(sweep.logs_dir / result.run(seed)) for seed in result.values)
    return LAP_TIME.median(LAP_TIME.value_of(evaluations) for evaluations in found)


def _faults_of(sweep: Sweep, best: Result) -> list[str]:
    """Return which drivers of a trial do not drive all laps cleanly, or are much off the road, and what they do."""
    found = []
    for seed in best.values:
        evaluations = [line for line in read_evaluations(sweep.logs_dir / best.run(seed)) if is_whole(line)]
        if not evaluations:
            continue
        driven = best_of(evaluations)
        off_road = driven.get("off_track_share", 0.0)
        if driven["clean_laps"] < driven["laps_asked"] or off_road >= FAR_OFF_ROAD:
            laps = f"{driven['clean_laps']} of {count_of(driven['laps_asked'], 'lap')} clean"
            found.append(f"seed {seed} ({laps}, {off_road:.0%} off the road)")
    return found


def _setting(sweep: Sweep, result: Result) -> str:
    searched = settings_in_words(result.hyperparameters, result.weights)
    if len(sweep.bases) > 1:
        return f"{result.base.label}{': ' if searched else ''}{searched}"
    return searched or result.base.label


def write_best(sweep: Sweep, best: Result) -> Path:
    """Write the best trial as a preset, with its figures, and return the file's path."""
    base = best.base
    path = sweep.logs_dir / BEST_NAME
    words, short = sweep.objective.in_words, sweep.objective.in_short
    values = ", ".join(f"seed {seed}: {short(value)}" for seed, value in best.values.items())
    tracks = in_short([track.id for track in base.run.eval_tracks])
    document = {
        "about": f"The best of the sweep {sweep.name}: trial {best.number}, by the {sweep.objective.about}.",
        "figures": f"Median {words(best.median)} ({values}) on {tracks}, {base.run.steps:,} steps.",
        "algorithm": base.algorithm.name,
        "arguments": _arguments(base),
        "hyperparameters": {**base.named_settings(), **best.hyperparameters},
        **_config(base, best),
    }
    with replacing(path) as beside:
        beside.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return path


def _arguments(base: Base) -> dict[str, Any]:
    """Return the arguments of a base that differ from the defaults, as far as presets hold them."""
    usual = {**defaults(base.algorithm), "num_envs": None}
    options = base.options
    names = ("timesteps", "num_envs", "track_id", "eval_track_id", "eval_freq", "eval_laps", "eval_random_starts")
    found = {name: getattr(options, name) for name in (*names, "checkpoint_freq")}
    found = {name: value for name, value in found.items() if value != usual[name]}
    beginning = options.beginning
    return {**found, **({"initialize_from": str(beginning.data.path)} if beginning is not None else {})}


def _config(base: Base, best: Result) -> dict[str, Any]:
    """Return reward weights and episode limits, if they are not the project's own."""
    config = base.run.config.to_json()
    config["weights"] |= best.weights
    return {} if config == AiConfig().to_json() else {"ai_config": config}


def commands(sweep: Sweep, best: Result) -> Iterator[str]:
    """Yield what to look at, each with its command."""
    seed = min(best.values, key=lambda seed: sweep.objective.rank(best.values[seed]))
    model = model_path(sweep.models_dir, best.run(seed), BEST)
    evaluate = ["python", "-m", "training.evaluate", "--model", str(model), *best.base.run.track_flags]
    logs = sweep.logs_dir.parent
    compare = ["python", "-m", "training.compare", sweep.name, *(["--logs-dir", str(logs)] if logs != LOGS_DIR else [])]
    train = ["python", "-m", best.base.algorithm.script, "--preset", str(sweep.logs_dir / BEST_NAME)]
    yield f"see its best run lap: {command_line(evaluate)}"
    yield f"compare all trials: {command_line(compare)}"
    yield f"see the curves: {command_line(['tensorboard', '--logdir', str(sweep.logs_dir)])}"
    yield f"train with the best setting: {command_line(train)}"
