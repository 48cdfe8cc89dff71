"""The command line of ``training.parity``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from racer_env.bridge.url import AUTO
from racer_env.tracks import ALL_TRACKS, Track, load_tracks
from training.console.arguments import add_track_arguments
from training.console.bridges import add_bridge_argument
from training.console.parser import MAX_SEED, Parser, whole_number

BRIDGE_DEFAULT = AUTO


@dataclass(frozen=True)
class ParityOptions:
    """The options of ``training.parity``; ``make_parser`` says what each one means."""

    bridge_url: list[str] | None
    track_id: list[str]
    track_seed: int
    tracks_dir: Path | None
    episodes: int
    seed: int


def make_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="python -m training.parity",
        description="Drive the same actions over a bridge and in the embedded simulator, and compare every number. "
        "Exit code 0: equal, 1: different, 2: could not run.",
        examples=(
            "python -m training.parity",
            "python -m training.parity --bridge-url ws://127.0.0.1:9876 --track-id track-01 --episodes 20",
        ),
    )
    add_bridge_argument(parser, f"'{BRIDGE_DEFAULT}'")
    add_track_arguments(parser, "all of --tracks-dir")
    parser.add_argument(
        "--episodes",
        type=whole_number(1, 10_000),
        default=6,
        help="episodes per track, by turns with random actions and with a scripted driver's (default: 6)",
    )
    parser.add_argument("--seed", type=whole_number(0, MAX_SEED), default=0, help="seed of the actions (default: 0)")
    return parser


def parse_options(argv: Sequence[str] | None) -> ParityOptions:
    """Return the options on a command line; None is the process's own."""
    return ParityOptions(**vars(make_parser().parse_args(argv)))


def load_own_tracks(options: ParityOptions) -> list[Track]:
    """Load the tracks that a bridge is compared on, from files on this side.

    Raises:
        TrackError: A track does not exist or is wrong.
    """
    return load_tracks(options.track_id or [ALL_TRACKS], options.tracks_dir)
