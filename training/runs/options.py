"""The command line of a training script, as one frozen object."""

import argparse
import dataclasses
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from racer_env.contract import MAX_CARS
from racer_env.errors import ConfigError, TrackError
from racer_env.project import PRETRAINED_MODEL
from racer_env.tracks.names import expand_names
from training.algorithms.algorithm import Algorithm
from training.algorithms.presets import Preset, preset_names, preset_path, read_preset
from training.algorithms.settings import described, override
from training.checkpoints.checkpoint import Checkpoint, find_checkpoint
from training.checkpoints.data import ModelData
from training.checkpoints.files import PRETRAINED, is_model_or_run, note_own_pretrained
from training.checkpoints.statistics import NONE
from training.console.arguments import LOGS_DIR, MODELS_DIR, add_statistics_arguments, add_track_arguments, track_flags
from training.console.bridges import add_bridge_argument
from training.console.parser import MAX_SEED, Parser, check_track_seed, positive_number, whole_number
from training.evaluation.options import DEFAULT_LAPS
from training.runs.brought import Brought, add_arguments, resolve
from training.runs.recorded import recorded_options
from training.runs.reward_function import reward_function

DEFAULT_KEPT = 5  # checkpoints kept
DEFAULT_TRACK_SEED = 0


@dataclass(frozen=True)
class TrainingOptions:
    """The options of a training script; ``make_parser`` says what each one means.

    An option that the user does not give comes from the preset, else from the resumed run, else from the default.

    Attributes:
        hyperparameters: Values of --preset and then of --hyperparams, by name; the latter override the former.
        ai_config: Reward weights and episode limits of --hyperparams or --preset; None is those without them.
        beginning: Checkpoint that --resume or --initialize-from names.
        recorded: How the resumed run was evaluated and saved, by the names of these options; empty if it is not known.
        reward: Function of the user's that pays in training; None is the game's own reward.
        wrapper: Class of the user's that wraps the cars of training; None is none.
    """

    run_name: str | None
    overwrite: bool
    timesteps: int
    seed: int | None
    models_dir: Path
    logs_dir: Path
    resume: str | None
    initialize_from: str | None
    vecnorm: Path | None
    no_vecnorm: bool
    bridge_url: list[str] | None
    any_physics: bool
    track_id: list[str]
    track_seed: int
    tracks_dir: Path | None
    config: Path | None
    num_envs: int | None
    preset: str | None
    hyperparams: Path | None
    assignments: list[str]
    device: str
    checkpoint_freq: int
    keep_checkpoints: int
    save_replay_buffer: bool
    eval_freq: int
    eval_laps: int
    eval_track_id: list[str]
    eval_random_starts: int
    stop_when_competent: bool
    stop_when_lap_time: float | None
    hyperparameters: tuple[dict[str, Any], ...]
    ai_config: dict[str, Any] | None
    beginning: Checkpoint | None
    recorded: dict[str, Any]
    reward: Brought | None
    wrapper: Brought | None

    @property
    def resumed(self) -> ModelData | None:
        """The model to resume; None if a new run begins."""
        return self.beginning.data if self.beginning is not None and self.resume is not None else None

    @property
    def names_config(self) -> bool:
        """Whether the command line or a preset names reward weights and episode limits."""
        return self.config is not None or self.ai_config is not None

    @property
    def track_flags(self) -> list[str]:
        """Flags that find the tracks again, if their ids are not enough."""
        return track_flags(self.track_id, self.tracks_dir)

    def resume_command(self, algorithm: Algorithm) -> list[str]:
        """Return the command that calls the script again, without the model to resume, with what the model lacks."""
        usual: dict[str, Any] = {**vars(make_parser(algorithm).parse_args([])), **defaults(algorithm)}
        command = ["python", "-m", algorithm.script, *self.track_flags]
        for name in _TOLD_AGAIN:
            value = getattr(self, name)
            if value != usual[name]:
                command += _as_flags(f"--{name.replace('_', '-')}", value)
        return command

    def as_record(self) -> dict[str, Any]:
        """Return the options for a run's record, in which the values of presets stand apart."""
        names = [field.name for field in fields(self) if field.name not in _NO_OPTIONS]
        values = {name: getattr(self, name) for name in names}
        return {name: str(value) if isinstance(value, Path) else value for name, value in values.items()}


# What the options have been completed with; a run's record has it elsewhere.
_NO_OPTIONS = ("hyperparameters", "ai_config", "beginning", "recorded", "reward", "wrapper")

# Options that must be given again to resume a run, as the model does not store them.
_TOLD_AGAIN = (
    *("checkpoint_freq", "keep_checkpoints", "save_replay_buffer", "eval_freq", "eval_laps", "eval_track_id"),
    *("eval_random_starts", "stop_when_competent", "stop_when_lap_time", "device", "models_dir", "logs_dir"),
)


def _as_flags(flag: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [flag if value else flag.replace("--", "--no-", 1)]
    return [flag, *value] if isinstance(value, list) else [flag, str(value)]


def make_parser(algorithm: Algorithm) -> Parser:
    """Return the parser of an algorithm's training script."""
    parser = Parser(
        prog=f"python -m {algorithm.script}",
        description=f"Train a driver with {algorithm.name}, on the embedded simulator or over the game's bridge.",
        examples=(
            f"python -m {algorithm.script} --track-id all --run-name allround",
            f"python -m {algorithm.script} --resume allround --timesteps {algorithm.timesteps // 4}",
        ),
        epilog=f"hyper-parameters, for --set and --hyperparams:\n{described(algorithm.settings)}\n\n"
        "Model files contain pickles. They are left closed: only JSON, tensors and checked statistics are read.",
        defers_tracks=True,
    )
    _add_run_arguments(parser.add_argument_group("the run"), algorithm)
    _add_game_arguments(parser.add_argument_group("the game"), algorithm)
    _add_learning_arguments(parser.add_argument_group("learning"))
    _add_evaluation_arguments(parser.add_argument_group("evaluations, and the best model"), algorithm)
    _add_saving_arguments(parser.add_argument_group("files"), algorithm)
    parser.set_defaults(track_id=None, track_seed=None)  # not given: presets and the resumed run may set them
    return parser


def name_prefix(algorithm: Algorithm) -> str:
    """Return the prefix of run names that are chosen automatically."""
    return f"{algorithm.name.lower()}_run"


def _add_run_arguments(run: argparse._ArgumentGroup, algorithm: Algorithm) -> None:
    run.add_argument(
        "--timesteps",
        type=whole_number(1),
        help=f"environment steps to train; on resume, more steps (default: {algorithm.timesteps})",
    )
    run.add_argument(
        "--run-name",
        metavar="NAME",
        help="name of the run and of its files (default: that of the model to resume, or the next free "
        f"{name_prefix(algorithm)}_N)",
    )
    start = run.add_mutually_exclusive_group()
    start.add_argument(
        "--resume",
        metavar="MODEL",
        help="go on with a model, by its path, or with the newest whole one of a run, by the run's name: "
        "counter, statistics, optimiser, curves and files go on",
    )
    start.add_argument(
        "--initialize-from",
        metavar="MODEL",
        help="begin a new run with the weights and statistics of a model, or of the bundled driver (pretrained); the "
        "counter begins at 0",
    )
    add_statistics_arguments(run)
    run.add_argument(
        "--seed",
        type=whole_number(0, MAX_SEED),
        help="seed of everything random (default: that of the model to resume, or 0)",
    )


def _add_game_arguments(game: argparse._ArgumentGroup, algorithm: Algorithm) -> None:
    add_track_arguments(
        game,
        "those of the model to begin with, or all of --tracks-dir, or track-01",
        config="those of the model to resume, or ai-config.json, also with --initialize-from",
    )
    one, several = algorithm.cars, algorithm.cars_on_several_tracks
    default = f"{one}" if one == several else f"{one}, or {several} for several tracks"
    game.add_argument(
        "--num-envs",
        type=whole_number(1, MAX_CARS),
        help=f"number of cars (default: that of the model to resume, or {default}; 8 or one for each track over a "
        "bridge that speaks version 1)",
    )
    add_bridge_argument(game)
    game.add_argument(
        "--any-physics", action="store_true", help="begin with a model even if it was trained on other physics"
    )


def _add_learning_arguments(learning: argparse._ArgumentGroup) -> None:
    learning.add_argument(
        "--preset",
        help="hyper-parameters and options that go together; command-line options override them: "
        f"{', '.join(preset_names())}, or a file of your own that ends in .json",
    )
    learning.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="assignments",
        help="set one hyper-parameter, after --hyperparams; may be repeated",
    )
    learning.add_argument(
        "--hyperparams", type=Path, metavar="FILE", help="a JSON object of hyper-parameters, or a preset of your own"
    )
    add_arguments(learning)
    learning.add_argument(
        "--device",
        default="cpu",
        help="device of PyTorch: cpu, cuda or auto; cpu is fastest for these networks (default: cpu)",
    )


def _add_evaluation_arguments(evaluation: argparse._ArgumentGroup, algorithm: Algorithm) -> None:
    evaluation.add_argument(
        "--eval-freq",
        type=whole_number(0),
        help="environment steps between evaluations, which find the best model; 0 for none "
        f"(default: {algorithm.eval_freq})",
    )
    evaluation.add_argument(
        "--eval-laps",
        type=whole_number(1, 1000),
        help=f"laps of an evaluation on each track (default: {DEFAULT_LAPS})",
    )
    evaluation.add_argument(
        "--eval-track-id",
        nargs="+",
        metavar="ID",
        help="tracks of the evaluations, generated ones of another seed than those of training "
        "(default: those of training)",
    )
    evaluation.add_argument(
        "--eval-random-starts",
        type=whole_number(0, 1000),
        metavar="N",
        help="in evaluations, start from N places on each track too, on the move and at rest (default: 0)",
    )
    evaluation.add_argument(
        "--stop-when-competent",
        action=argparse.BooleanOptionalAction,
        help="end the run once an evaluation drives all its laps without touching a wall (default: no)",
    )
    evaluation.add_argument(
        "--stop-when-lap-time",
        type=positive_number,
        metavar="S",
        help="end the run once an evaluation does so with a lap of at most S seconds on every track (default: no)",
    )
    evaluation.add_argument(
        "--no-stop-when-lap-time",
        action="store_const",
        const=0.0,
        dest="stop_when_lap_time",
        help="on resume, end it at no lap time any more",
    )


def _add_saving_arguments(saving: argparse._ArgumentGroup, algorithm: Algorithm) -> None:
    saving.add_argument(
        "--checkpoint-freq",
        type=whole_number(1),
        help=f"environment steps between checkpoints (default: {algorithm.checkpoint_freq})",
    )
    saving.add_argument(
        "--keep-checkpoints",
        type=whole_number(1),
        metavar="K",
        help=f"keep the newest K checkpoints; best, final and interrupted models always stay (default: {DEFAULT_KEPT})",
    )
    if algorithm.has_buffer:
        saving.add_argument(
            "--save-replay-buffer",
            action=argparse.BooleanOptionalAction,
            help="save the replay buffer with the newest model, up to 140 bytes a step (default: yes)",
        )
    saving.add_argument("--overwrite", action="store_true", help="delete the files of a run of that name first")
    saving.add_argument("--models-dir", type=Path, default=MODELS_DIR, help="folder of models (default: models/)")
    saving.add_argument("--logs-dir", type=Path, default=LOGS_DIR, help="folder of logs (default: logs/)")


def make_options(algorithm: Algorithm, arguments: argparse.Namespace) -> TrainingOptions:
    """Return the options on a parsed command line, completed by presets and the resumed run.

    Args:
        algorithm: Algorithm of the training script.
        arguments: Namespace parsed by ``make_parser``.

    Raises:
        ConfigError: A preset is missing, wrong, or for another algorithm.
        ModelError: The model to begin with is missing or damaged.
        SystemExit: Options do not go together, or a set of tracks is wrong.
    """
    presets = _presets(algorithm, arguments)
    suggested: dict[str, Any] = {}
    for preset in presets:
        suggested |= preset.arguments
    begins_with = suggested.pop("initialize_from", None)
    if arguments.resume is None and arguments.initialize_from is None:
        arguments.initialize_from = begins_with
    beginning = _beginning(arguments)
    resumed = beginning.data if beginning is not None and arguments.resume is not None else None
    before = recorded_options(arguments.logs_dir, resumed) if resumed is not None else {}
    values = {**defaults(algorithm), **before, **suggested}
    values |= {name: value for name, value in vars(arguments).items() if value is not None or name not in values}
    values["stop_when_lap_time"] = values["stop_when_lap_time"] or None
    parser = make_parser(algorithm)  # reports errors in the command line itself
    if beginning is None and (arguments.vecnorm is not None or arguments.no_vecnorm):
        parser.error("--vecnorm and --no-vecnorm are about the model of --resume or --initialize-from; name one")
    if not values["eval_freq"]:
        if arguments.stop_when_competent or arguments.stop_when_lap_time:
            parser.error("--stop-when-competent and --stop-when-lap-time need evaluations, got --eval-freq 0")
        values |= {"stop_when_competent": False, "stop_when_lap_time": None}  # those of the run before
    usual = before.get("track_seed", DEFAULT_TRACK_SEED)
    try:
        # Sets that the user has not named are those of a preset or of the run before.
        check_track_seed(values["track_seed"], usual, values["track_id"], arguments.eval_track_id or ())
        values["track_id"] = expand_names(values["track_id"], values["track_seed"])
    except (ConfigError, TrackError) as error:
        parser.error(str(error))
    values |= resolve(arguments, resumed)
    if values["reward"] is not None:
        reward_function(values["reward"])  # what is none is refused before anything is written
    documents = tuple(preset.hyperparameters for preset in presets)
    configs = [preset.ai_config for preset in presets if preset.ai_config is not None]
    values["ai_config"] = configs[-1] if configs else None
    return TrainingOptions(**values, hyperparameters=documents, beginning=beginning, recorded=before)


def defaults(algorithm: Algorithm) -> dict[str, Any]:
    """Return the options that presets and a resumed run may also set, with their defaults."""
    return {
        "timesteps": algorithm.timesteps,
        "checkpoint_freq": algorithm.checkpoint_freq,
        "keep_checkpoints": DEFAULT_KEPT,
        "save_replay_buffer": algorithm.has_buffer,
        "track_id": [],
        "track_seed": DEFAULT_TRACK_SEED,
        "eval_freq": algorithm.eval_freq,
        "eval_laps": DEFAULT_LAPS,
        "eval_track_id": [],
        "eval_random_starts": 0,
        "stop_when_competent": False,
        "stop_when_lap_time": None,
    }


def _presets(algorithm: Algorithm, arguments: argparse.Namespace) -> list[Preset]:
    """Return the contents of --preset and --hyperparams."""
    paths = [preset_path(arguments.preset)] if arguments.preset is not None else []
    paths += [arguments.hyperparams] if arguments.hyperparams is not None else []
    presets = [read_preset(path) for path in paths]
    for path, preset in zip(paths, presets, strict=True):
        if preset.algorithm not in (None, algorithm.name):
            raise ConfigError(f"preset {path.stem} is for {preset.algorithm}, not for {algorithm.name}")
        override(algorithm.settings(), preset.hyperparameters, str(path))
    return presets


def _beginning(arguments: argparse.Namespace) -> Checkpoint | None:
    """Return the checkpoint that the run begins with; "pretrained" is the bundled driver, unless a run has the name."""
    named: str | Path | None = arguments.initialize_from if arguments.resume is None else arguments.resume
    if arguments.initialize_from == PRETRAINED and not is_model_or_run(PRETRAINED, arguments.models_dir):
        named = PRETRAINED_MODEL
    if named is None:
        return None
    normalises = not arguments.no_vecnorm
    found = find_checkpoint(named, arguments.models_dir, statistics=arguments.vecnorm, normalises=normalises)
    if arguments.initialize_from == PRETRAINED == named:
        note_own_pretrained(found.data.path, PRETRAINED_MODEL)
    return found if normalises else dataclasses.replace(found, statistics=NONE)
