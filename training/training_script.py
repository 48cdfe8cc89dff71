"""What all training scripts do: their command line, and the way from it to a run."""

import argparse
import contextlib
import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from racer_env.config import AiConfig, load_config, parse_config
from racer_env.errors import ConfigError, ModelError, RunError
from racer_env.json_files import read_json
from racer_env.tracks.names import VALIDATION_SEED, expand_names
from training.algorithms import Algorithm
from training.bridges import add_bridge_argument, open_bridge, physics_behind
from training.cli import (
    LOGS_DIR,
    MAX_CARS,
    MAX_SEED,
    MODELS_DIR,
    Parser,
    add_track_arguments,
    command_line,
    count_of,
    in_short,
    note,
    positive_number,
    run_script,
    say,
    track_flags,
    whole_number,
)
from training.hyperparameters import as_document, described, overridden, override
from training.model_data import ModelData, read_model_data
from training.model_files import (
    buffer_path,
    find_model,
    find_statistics,
    load_tracks_for,
    run_of,
)
from training.presets import Preset, preset_names, preset_path, read_preset
from training.run_files import check_removable, choose_run_name, claim_folders, hold_run, keep_later, remove_run
from training.run_record import RECORD_NAME, note_changed_tracks, surroundings, track_fingerprints, write_record

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.vec_env import VecNormalize

    from racer_env.bridge.bridge import Bridge
    from training.replay import Transitions
    from training.session import Run

# What a resumed run has to be told again, because the model does not carry it.
_TOLD_AGAIN = (
    *("checkpoint_freq", "keep_checkpoints", "save_replay_buffer", "eval_freq", "eval_laps", "eval_track_id"),
    *("eval_random_starts", "stop_when_competent", "stop_when_lap_time", "device", "models_dir", "logs_dir"),
)


# How a run is evaluated goes on as it was, with the types of the values.
_EVALUATIONS = {"eval_freq": int, "eval_laps": int, "eval_track_id": list, "eval_random_starts": int, "track_seed": int}


def make_parser(algorithm: Algorithm) -> Parser:
    """Return the command line of an algorithm's training script."""
    parser = Parser(
        prog=f"python -m {algorithm.script}",
        description=f"Train a driver with {algorithm.name}, on the embedded simulator or over the game's bridge.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"hyper-parameters, for --set and --hyperparams:\n{described(algorithm.settings)}\n\n"
        "Model files contain pickles. They are left closed: only JSON, tensors and checked statistics are read.",
    )
    run = parser.add_argument_group("the run")
    run.add_argument(
        "--run-name",
        metavar="NAME",
        help=f"of its files (default: that of the model to resume, or the next free {_prefix(algorithm)}_N)",
    )
    run.add_argument("--overwrite", action="store_true", help="delete the files of a run of that name first")
    run.add_argument(
        "--timesteps",
        type=whole_number(1),
        default=algorithm.timesteps,
        help=f"environment steps to train; on resume, more steps (default: {algorithm.timesteps})",
    )
    run.add_argument(
        "--seed",
        type=whole_number(0, MAX_SEED),
        help="of everything random (default: that of the model to resume, or 0)",
    )
    run.add_argument("--models-dir", type=Path, default=MODELS_DIR, help="where models go (default: models/)")
    run.add_argument("--logs-dir", type=Path, default=LOGS_DIR, help="where logs go (default: logs/)")

    start = parser.add_argument_group("beginning with a model").add_mutually_exclusive_group()
    start.add_argument(
        "--resume",
        metavar="MODEL",
        help="go on with a model, by its path, or with the newest whole one of a run, by the run's name: "
        "counter, statistics, optimiser, curves and files go on",
    )
    start.add_argument(
        "--initialize-from",
        metavar="MODEL",
        help="begin a new run with the weights and statistics of a model; the counter begins at 0",
    )

    game = parser.add_argument_group("the game")
    add_bridge_argument(game)
    add_track_arguments(game, "those of the model to begin with, or all of --tracks-dir, or track-01")
    game.add_argument("--num-envs", type=whole_number(1, MAX_CARS), help=_cars_help(algorithm))

    learning = parser.add_argument_group("learning")
    learning.add_argument(
        "--preset",
        choices=preset_names(),
        help="hyper-parameters and arguments that go together (training/presets/)",
    )
    learning.add_argument(
        "--hyperparams", type=Path, metavar="FILE", help="a JSON object of hyper-parameters, or a preset of your own"
    )
    learning.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="assignments",
        help="one hyper-parameter, after --hyperparams; may be repeated",
    )
    learning.add_argument(
        "--device", default="cpu", help="cpu, cuda or auto; cpu is fastest for these networks (default: cpu)"
    )

    saving = parser.add_argument_group("saving, and the best model")
    saving.add_argument(
        "--checkpoint-freq",
        type=whole_number(1),
        default=algorithm.checkpoint_freq,
        help=f"environment steps between checkpoints (default: {algorithm.checkpoint_freq})",
    )
    saving.add_argument(
        "--keep-checkpoints",
        type=whole_number(1),
        default=5,
        metavar="K",
        help="how many of them stay, the newest; best, final and interrupted ones always do (default: 5)",
    )
    if algorithm.has_buffer:
        saving.add_argument(
            "--save-replay-buffer",
            action=argparse.BooleanOptionalAction,
            default=True,
            help="save the replay buffer with the newest model, up to 140 bytes a step (default: yes)",
        )
    saving.add_argument(
        "--eval-freq",
        type=whole_number(0),
        default=algorithm.eval_freq,
        help="environment steps between evaluations, which find the best model; 0 for none "
        f"(default: {algorithm.eval_freq})",
    )
    saving.add_argument(
        "--eval-laps", type=whole_number(1, 1000), default=3, help="laps of an evaluation on each track (default: 3)"
    )
    saving.add_argument(
        "--eval-track-id",
        nargs="+",
        default=[],
        metavar="ID",
        help="tracks of the evaluations, generated ones of another seed than those of training "
        "(default: those of training)",
    )
    saving.add_argument(
        "--eval-random-starts",
        type=whole_number(0, 1000),
        default=0,
        metavar="N",
        help="in evaluations, start from N places on each track too, on the move and at rest (default: 0)",
    )
    saving.add_argument(
        "--stop-when-competent",
        action="store_true",
        help="end the run once an evaluation drives all its laps without touching a wall",
    )
    saving.add_argument(
        "--stop-when-lap-time",
        type=positive_number,
        metavar="S",
        help="end the run once an evaluation does so with a lap of at most S seconds on every track",
    )
    return parser


def _prefix(algorithm: Algorithm) -> str:
    return f"{algorithm.name.lower()}_run"


def _cars_help(algorithm: Algorithm) -> str:
    one, several = algorithm.num_envs(1, None), algorithm.num_envs(2, None)
    default = f"{one}" if one == several else f"{one}, or {several} for several tracks"
    return (
        f"cars (default: that of the model to resume, or {default}; 8 or one for each track over a bridge that speaks "
        "version 1)"
    )


def run_training(algorithm: Algorithm, argv: Sequence[str] | None) -> int:
    """Run the script of an algorithm and return its exit code."""
    parser = make_parser(algorithm)

    def body(arguments: argparse.Namespace) -> int:
        presets = _presets(algorithm, arguments)
        # What the user names goes first all the same.
        parser.set_defaults(**_evaluations_before(arguments))
        for preset in presets:
            parser.set_defaults(**preset.arguments)
        arguments = parser.parse_args(argv)
        if not arguments.eval_freq and (arguments.stop_when_competent or arguments.stop_when_lap_time):
            parser.error("--stop-when-competent and --stop-when-lap-time need evaluations, got --eval-freq 0")
        with open_bridge(arguments) as bridge:
            return _train(algorithm, arguments, presets, bridge)

    # The first time, to find presets and the run to go on with.
    return run_script(body, parser.parse_known_args(argv)[0])


def _evaluations_before(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return how a run that is resumed was evaluated, as its record says; nothing where there is none that is whole."""
    if arguments.resume is None:
        return {}
    record = arguments.logs_dir / run_of(find_model(arguments.resume, arguments.models_dir)) / RECORD_NAME
    try:
        before = read_json(record, RunError, "run record")["arguments"]
        return {name: before[name] for name, kind in _EVALUATIONS.items() if type(before[name]) is kind}
    except (RunError, KeyError, TypeError):
        return {}


def _presets(algorithm: Algorithm, arguments: argparse.Namespace) -> list[Preset]:
    """Return what --preset and --hyperparams say.

    Raises:
        ConfigError: One of them is missing, wrong, or for another algorithm.
    """
    paths = [preset_path(arguments.preset)] if arguments.preset is not None else []
    paths += [arguments.hyperparams] if arguments.hyperparams is not None else []
    presets = [read_preset(path) for path in paths]
    for path, preset in zip(paths, presets, strict=True):
        if preset.algorithm not in (None, algorithm.name):
            raise ConfigError(f"{path} is for {preset.algorithm}, not for {algorithm.name}")
        override(algorithm.settings(), preset.hyperparameters, str(path))
    return presets


@dataclass(frozen=True)
class _Beginning:
    """A model to begin with.

    Attributes:
        data: What it says about itself.
        statistics: Its statistics file.
        resumes: Whether its run goes on; otherwise a new one begins with its weights.
    """

    data: ModelData
    statistics: Path
    resumes: bool


def _train(
    algorithm: Algorithm,
    arguments: argparse.Namespace,
    presets: "Sequence[Preset]",
    bridge: "Bridge | None",
) -> int:
    from training.loading import Preparation

    # Whatever can be refused is refused before the run takes its name on disk.
    beginning = _find_beginning(algorithm, arguments)
    resumed = beginning.data if beginning is not None and beginning.resumes else None
    settings = _settings(algorithm, beginning, presets, arguments.assignments)
    config = _config(resumed, arguments.config)
    tracks = load_tracks_for(
        beginning.data.track_ids if beginning else [], arguments.track_id, arguments.tracks_dir, bridge
    )
    eval_names = expand_names(arguments.eval_track_id, arguments.track_seed + VALIDATION_SEED)
    eval_tracks = load_tracks_for([], eval_names, arguments.tracks_dir, bridge) if eval_names else tracks
    num_envs = _num_envs(algorithm, arguments, resumed, len(tracks), bridge)
    name, may_exist = _name(algorithm, arguments, beginning)

    with Preparation(None if bridge else tracks[0]):
        from training.environment import make_training_env
        from training.evaluation import without_time_for_a_lap
        from training.model_loading import check_physics, load_model, prepare
        from training.session import Run, train
        from training.statistics import load_statistics

    run = Run(
        name=name,
        tracks=tracks,
        config=config,
        settings=settings,
        num_envs=num_envs,
        timesteps=arguments.timesteps,
        seed=_seed(arguments, resumed),
        first_step=resumed.steps if resumed else 0,
        models_dir=arguments.models_dir,
        logs_dir=arguments.logs_dir,
        checkpoint_freq=arguments.checkpoint_freq,
        keep_checkpoints=arguments.keep_checkpoints,
        with_buffer=algorithm.has_buffer and arguments.save_replay_buffer,
        eval_freq=arguments.eval_freq,
        eval_laps=arguments.eval_laps,
        eval_tracks=eval_tracks,
        eval_random_starts=arguments.eval_random_starts,
        stop_when_competent=arguments.stop_when_competent,
        stop_when_lap_time=arguments.stop_when_lap_time,
        resume_command=["python", "-m", algorithm.script, *_told_again(algorithm, arguments)],
        track_flags=track_flags(arguments),
        bridge=bridge,
    )
    prepare(run.draw_seed, arguments.device)
    transitions = None
    if beginning is not None:
        note_changed_tracks(beginning.data.get("track_fingerprints", dict, {}), beginning.data.path.name, tracks)
        check_physics(beginning.data, physics_behind(bridge))
        load_statistics(beginning.statistics)
        load_model(beginning.data, None, arguments.device)
        transitions = _read_transitions(algorithm, beginning)
    with contextlib.ExitStack() as stack:
        run = _claim(algorithm, arguments, run, may_exist, stack)
        if may_exist and resumed is not None and not arguments.overwrite:
            keep_later(resumed, run.logs_dir)
        _write_record(algorithm, arguments, run, beginning)
        for sentence in without_time_for_a_lap(tracks, config):
            say(f"warning: {sentence}; no lap can be completed in training")
        env = make_training_env(run, beginning.statistics if beginning else None)
        model = _make_model(algorithm, run, env, beginning, transitions, arguments.device)
        names = in_short([track.id if track.name == track.id else f"{track.id} ({track.name})" for track in tracks])
        steps = count_of(run.timesteps, "step")
        say(f"training run {run.name!r} on {names} with {count_of(num_envs, 'car')} for {steps}")
        return train(run, model, env)


def _claim(
    algorithm: Algorithm, arguments: argparse.Namespace, run: "Run", may_exist: bool, stack: contextlib.ExitStack
) -> "Run":
    """Take the run's name on disk; where it is an automatic one that another run has just taken, the next."""
    while True:
        try:
            with contextlib.ExitStack() as attempt:
                attempt.enter_context(hold_run(run.name, run.models_dir, run.logs_dir))
                if arguments.overwrite:
                    remove_run(run.name, run.models_dir, run.logs_dir)
                claim_folders(run.name, run.models_dir, run.logs_dir, may_exist)
                stack.enter_context(attempt.pop_all())
                return run
        except ModelError:
            if arguments.run_name is not None or arguments.resume is not None:
                raise
        name = choose_run_name(None, _prefix(algorithm), run.models_dir, run.logs_dir, may_exist)
        run = dataclasses.replace(run, name=name)


def _read_transitions(algorithm: Algorithm, beginning: _Beginning) -> "Transitions | None":
    """Return the replay buffer that was saved with a model that goes on; None where there is none."""
    path = buffer_path(beginning.data.path)
    if not (algorithm.has_buffer and beginning.resumes and path.is_file()):
        return None
    from training.replay import read_buffer
    from training.statistics import digest_of

    if beginning.data.get("buffer_digest", str, None) not in (None, digest_of(path)):
        note(f"{path} is not the replay buffer that {beginning.data.path.name} was saved with; it is filled again")
        return None
    return read_buffer(path)


def _find_beginning(algorithm: Algorithm, arguments: argparse.Namespace) -> _Beginning | None:
    named = arguments.initialize_from if arguments.resume is None else arguments.resume
    if named is None:
        return None
    data = read_model_data(find_model(named, arguments.models_dir))
    if data.algorithm != algorithm.name:
        raise ModelError(
            f"{data.path} is a {data.algorithm} model; what goes on with it is "
            f"python -m training.train_{data.algorithm.lower()}"
        )
    return _Beginning(data, find_statistics(data), resumes=arguments.resume is not None)


def _settings(
    algorithm: Algorithm, beginning: _Beginning | None, presets: Sequence[Preset], assignments: Sequence[str]
) -> Any:
    """Return the hyper-parameters: defaults, then the model's, then those of files, then single ones."""
    settings, documents = algorithm.settings(), [preset.hyperparameters for preset in presets]
    if beginning is None:
        return overridden(settings, documents, assignments)
    own, fixed = beginning.data.get("hyperparameters", dict, {}), algorithm.fixed(beginning.resumes)
    carried = [name for name in as_document(settings) if name in own and (beginning.resumes or name in fixed)]
    before = override(settings, {name: own[name] for name in carried}, str(beginning.data.path))
    after = overridden(before, documents, assignments)
    for name, value in as_document(after).items() if beginning.resumes else []:
        if value != as_document(before)[name]:
            say(f"{name} is {value} from here on; it was {as_document(before)[name]}")
    for name in fixed:
        if getattr(before, name) != getattr(after, name):
            raise ConfigError(
                f"{name} of {beginning.data.path} began as {getattr(before, name)} and cannot change; begin a new run "
                "for it"
            )
    return after


def _config(resumed: ModelData | None, path: Path | None) -> AiConfig:
    """Return weights and limits: those of the command line, or of the model, or of the project."""
    own = resumed.get("ai_config", dict, None) if resumed is not None else None
    if path is not None or resumed is None or own is None:
        return load_config(path)
    config = parse_config(own, str(resumed.path))
    if config != load_config():
        say("going on with the model's own weights and limits, which are not those of ai-config.json (--config)")
    return config


def _num_envs(
    algorithm: Algorithm,
    arguments: argparse.Namespace,
    resumed: ModelData | None,
    num_tracks: int,
    bridge: "Bridge | None",
) -> int:
    own = resumed.get("n_envs", int, 0) if resumed is not None and (bridge is None or bridge.has_extensions) else 0
    if arguments.num_envs is None:
        return int(own) if own >= num_tracks else algorithm.num_envs(num_tracks, bridge)
    if arguments.num_envs < num_tracks:
        raise ConfigError(f"--num-envs must be at least the number of tracks, {num_tracks}; got {arguments.num_envs}")
    return int(arguments.num_envs)


def _name(algorithm: Algorithm, arguments: argparse.Namespace, beginning: _Beginning | None) -> tuple[str, bool]:
    """Return the run's name, and whether its files may be there already."""
    wanted, goes_on = arguments.run_name, False
    if beginning is not None:
        own, folder = run_of(beginning.data.path), beginning.data.path.parent
        if beginning.resumes:
            wanted = wanted or own
        is_own = wanted == own and folder.resolve() == arguments.models_dir.resolve()
        goes_on = is_own and beginning.resumes
    if arguments.overwrite and wanted is not None:
        needed = [beginning.data.path, beginning.statistics] if beginning is not None else []
        check_removable(wanted, arguments.models_dir, arguments.logs_dir, needed)
    may_exist = arguments.overwrite or goes_on
    name = choose_run_name(wanted, _prefix(algorithm), arguments.models_dir, arguments.logs_dir, may_exist)
    return name, may_exist


def _seed(arguments: argparse.Namespace, resumed: ModelData | None) -> int:
    if arguments.seed is not None:
        return int(arguments.seed)
    return int(resumed.get("run_seed", int, 0)) if resumed is not None else 0


def _told_again(algorithm: Algorithm, arguments: argparse.Namespace) -> list[str]:
    """Return the arguments that a resumed run needs again, because its model does not carry them."""
    flags, parser = track_flags(arguments), make_parser(algorithm)  # a preset has changed the other one's defaults
    for name in _TOLD_AGAIN:
        value, flag = getattr(arguments, name, None), f"--{name.replace('_', '-')}"
        if value == parser.get_default(name):
            continue
        if isinstance(value, list):
            flags += [flag, *value]
        elif isinstance(value, bool):
            flags.append(flag if value else flag.replace("--", "--no-", 1))
        else:
            flags += [flag, str(value)]
    return flags


def _write_record(
    algorithm: Algorithm, arguments: argparse.Namespace, run: "Run", beginning: _Beginning | None
) -> None:
    physics = physics_behind(run.bridge)
    named = {name: str(value) if isinstance(value, Path) else value for name, value in vars(arguments).items()}
    record = {
        "run": run.name,
        "algorithm": algorithm.name,
        "command": command_line(["python", "-m", algorithm.script, *sys.argv[1:]]),
        **surroundings(),
        "seed": run.seed,
        "begins_with": str(beginning.data.path) if beginning else None,
        "first_step": run.first_step,
        "timesteps": run.timesteps,
        "num_envs": run.num_envs,
        "hyperparameters": as_document(run.settings),
        "algorithm_arguments": {
            name: value
            for name, value in algorithm.arguments(run.settings, run.num_envs).items()
            if not callable(value)
        },
        "ai_config": run.config.to_json(),
        "physics_fingerprint": physics.fingerprint if physics else None,
        "track_fingerprints": track_fingerprints(run.tracks),
        "arguments": named,
    }
    write_record(run.log_dir, record, run.first_step)


def _make_model(
    algorithm: Algorithm,
    run: "Run",
    env: "VecNormalize",
    beginning: _Beginning | None,
    transitions: "Transitions | None",
    device: str,
) -> "BaseAlgorithm":
    from training.model_loading import load_model
    from training.saving import remember
    from training.shaping import LAP_PROGRESS, make_indifferent

    arguments = algorithm.arguments(run.settings, run.num_envs)
    if beginning is not None and beginning.resumes:
        model = load_model(beginning.data, env, device, seed=run.draw_seed, **arguments)
        say(f"resumed {beginning.data.path} at {model.num_timesteps:,} steps")
        _say_learning_rate(run, arguments["learning_rate"])
    else:
        model = algorithm.make_model(env, run.settings, arguments, run.seed, device)
        if beginning is not None:
            source = load_model(beginning.data, None, device)
            model.policy.load_state_dict(source.policy.state_dict())
            say(f"began with the weights and statistics of {beginning.data.path}")
        if run.settings.progress_withheld:
            make_indifferent(model, LAP_PROGRESS)
    if beginning is not None and beginning.resumes and algorithm.has_buffer:
        _fill_buffer(model, transitions, run.timesteps)
    remember(
        model,
        hyperparameters=as_document(run.settings),
        action_repeat=run.settings.action_repeat,
        run_seed=run.seed,
    )
    return model


def _say_learning_rate(run: "Run", schedule: Any) -> None:
    total = run.first_step + run.timesteps
    now, then = schedule(run.timesteps / total), schedule(0.0)
    if now == then:
        say(f"the learning rate stays at {now:.3g}")
        return
    say(
        f"the learning rate goes on from {now:.3g} to {then:.3g}, computed against {total:,} steps: {run.first_step:,} "
        f"done and {run.timesteps:,} added"
    )


def _fill_buffer(model: Any, transitions: "Transitions | None", timesteps: int) -> None:
    """Take over the replay buffer that was saved with a model, or say that it is filled again."""
    from training.replay import fill_buffer

    if transitions is not None:
        say(f"took over {count_of(fill_buffer(model, transitions), 'step')} of its replay buffer")
    else:
        say(f"it has no replay buffer: it drives {count_of(model.learning_starts, 'step')} before it learns on")
        if timesteps <= model.learning_starts:
            say(f"warning: --timesteps {timesteps} ends before that; it will not learn anything")
