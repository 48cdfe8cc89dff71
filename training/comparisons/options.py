"""The command line of ``training.compare``."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from racer_env.errors import ConfigError
from training.console.arguments import LOGS_DIR, add_track_arguments
from training.console.parser import Parser, check_track_seed

PAGE_NAME = "compare.html"
UNSEEN = ["procedural:4"]
FIRST_SEED = 4711  # of generated tracks, tried first; the seeds of training are mostly small


@dataclass(frozen=True)
class CompareOptions:
    """The options of ``training.compare``; ``make_parser`` says what each one means.

    Attributes:
        track_seed: Seed of the generated tracks; None is one that no run was trained on.
    """

    runs: list[str]
    output: Path | None
    json: bool
    drive: bool
    track_id: list[str]
    track_seed: int | None
    tracks_dir: Path | None
    models_dir: Path | None
    logs_dir: Path


def make_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="python -m training.compare",
        description="Compare runs by their evaluations: settings, which are runs that agree in all but the seed, "
        "with their median, interquartile mean and 95 % bootstrap interval, in a table and on one HTML page with "
        "learning curves, the importance of what was searched, and the best drivers side by side.",
        examples=(
            "python -m training.compare sweep_1",
            "python -m training.compare 'ppo_run_*' sac_run_1 --no-drive",
        ),
        defers_tracks=True,
    )
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN_OR_SWEEP",
        help="names of runs, of sweeps, and patterns of names, within the folder of logs; runs that agree in all but "
        "the seed are one setting",
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help=f"file of the page (default: {PAGE_NAME} in the folder of logs, or in that of the sweep if it is one)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, with all settings, instead of a table")
    drive = parser.add_argument_group("the best drivers, side by side")
    drive.add_argument(
        "--drive",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="let the best model of each of the best settings drive (default: yes)",
    )
    add_track_arguments(drive, UNSEEN[0], seed=f"{FIRST_SEED}, or the next one that no run was trained on")
    parser.set_defaults(track_id=UNSEEN, track_seed=None)
    parser.add_argument(
        "--models-dir", type=Path, help="folder of models (default: those that the runs were trained with, or models/)"
    )
    parser.add_argument("--logs-dir", type=Path, default=LOGS_DIR, help="folder of logs (default: logs/)")
    return parser


def parse_options(argv: Sequence[str] | None) -> CompareOptions:
    """Return the options on a command line; None is the process's own."""
    return CompareOptions(**vars(make_parser().parse_args(argv)))


def check_options(options: CompareOptions) -> None:
    """Refuse what has no effect, before anything is read.

    Raises:
        ConfigError: Options do not go together, or a path is a folder instead of a file.
    """
    check_track_seed(options.track_seed or 0, 0, options.track_id)
    if not options.drive and (options.track_id != UNSEEN or options.tracks_dir is not None):
        raise ConfigError("--track-id and --tracks-dir are for the drive, so they do not go with --no-drive")
    if options.output is not None and options.output.is_dir():
        raise ConfigError(f"--output takes a file, and {options.output} is a folder")
