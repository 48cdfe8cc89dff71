"""The command line of ``training.watch``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from racer_env.rendering import CAMERAS, COLOURS, DARK, HEADING, WHOLE
from training.console.arguments import add_driver_arguments, add_statistics_arguments, add_track_arguments
from training.console.parser import Parser, whole_number
from training.evaluation.options import DEFAULT_LAPS


@dataclass(frozen=True)
class WatchOptions:
    """The options of ``training.watch``; ``make_parser`` says what each one means."""

    model: list[str]
    replay: list[Path]
    drive: bool
    record: Path | None
    laps: int
    track_id: list[str]
    track_seed: int
    tracks_dir: Path | None
    camera: str
    colours: str
    deterministic: bool
    vecnorm: Path | None
    no_vecnorm: bool
    seed: int
    models_dir: Path


def make_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="python -m training.watch",
        examples=(
            "python -m training.watch --model pretrained --track-id all",
            "python -m training.watch --drive --model ppo_run_1_best",
        ),
        description="Open a window in which drivers drive: several as ghosts on the same track, each alone as far as "
        "it knows. With --drive you drive against them.",
        epilog="keys: space pauses, C changes the camera, V shows or hides rays, T trails, + and - change the speed "
        "from 1/4 to 8, N goes to the next car, M to the next track, Enter starts again, F1 or ? shows all keys, Q or "
        "Escape ends; with --drive, the arrows drive, or the keys at the places of W A S D on a US keyboard (Z Q S D "
        "on a French one), or a gamepad. A steering assist limits the lock by speed and turns the wheels gently; H "
        "switches it off and on. R or Backspace puts the car back on the road, and then the lap does not count. "
        "Model files contain pickles. They are left closed: only JSON, tensors and checked statistics are read.",
    )
    parser.add_argument(
        "--model",
        nargs="+",
        action="extend",
        default=[],
        metavar="MODEL",
        help="one or more drivers, as training.evaluate takes them; may be repeated",
    )
    parser.add_argument(
        "--replay",
        nargs="+",
        action="extend",
        type=Path,
        default=[],
        metavar="FILE",
        help="drives that evaluate --record has saved, or a browser (.json)",
    )
    parser.add_argument(
        "--drive", action="store_true", help="drive yourself, with keyboard or gamepad, from the same start"
    )
    parser.add_argument(
        "--record",
        type=Path,
        metavar="FILE",
        help="save your drive with the best lap, for --replay, as .npz or as .json, which a browser reads too; if you "
        "lap several tracks, each has its id in the file's name",
    )
    parser.add_argument(
        "--laps",
        type=whole_number(1, 1000),
        help=f"laps of a race with --drive (default: {DEFAULT_LAPS})",
    )
    add_track_arguments(parser, "those that the first model was trained on, then the others")
    _add_look_arguments(parser)
    add_statistics_arguments(parser.add_argument_group("about the first model"))
    add_driver_arguments(parser)
    return parser


def _add_look_arguments(parser: Parser) -> None:
    parser.add_argument(
        "--camera",
        choices=CAMERAS,
        help="camera to begin with: following a car with its heading up, following it with north up, or all of the "
        f"track (default: {WHOLE}, with --drive {HEADING})",
    )
    parser.add_argument("--colours", choices=COLOURS, default=DARK, help=f"colours of the window (default: {DARK})")


def parse_options(argv: Sequence[str] | None) -> WatchOptions:
    """Return the options on a command line; None is the process's own."""
    parser = make_parser()
    arguments = parser.parse_args(argv)
    if arguments.camera is None:
        arguments.camera = HEADING if arguments.drive else WHOLE
    if arguments.laps is not None and not arguments.drive:
        parser.error("--laps are those of a race with --drive; add it, or leave --laps out")
    arguments.laps = arguments.laps or DEFAULT_LAPS
    options = WatchOptions(**vars(arguments))
    if not (options.model or options.replay or options.drive):
        parser.error("expected --model, --replay or --drive, or several of them")
    if options.record is not None and not options.drive:
        parser.error("--record saves what you drive yourself; add --drive (training.evaluate --record saves a model's)")
    return options
