"""Write generated tracks as files, with a picture: ``python -m training.make_tracks --track-id procedural:12``."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from training.console.arguments import add_track_arguments
from training.console.messages import command_line, count_of, note, say
from training.console.parser import DONE, Parser, leave, run_script
from training.console.tracks import count_tracks, known_tracks, load_tracks_for

DEFAULT_SET = "procedural:12"


def make_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="python -m training.make_tracks",
        examples=(
            "python -m training.make_tracks --track-id procedural:12",
            "python -m training.make_tracks --track-id procedural-hard:4 --track-seed 7 --output-dir hard",
        ),
        description="Write tracks as files that the game and --tracks-dir take, and a picture of all of them.",
    )
    add_track_arguments(parser, DEFAULT_SET)
    parser.set_defaults(track_id=[DEFAULT_SET])
    parser.add_argument(
        "--output-dir",
        type=Path,
        default=Path("generated"),
        metavar="DIR",
        help="folder of the files (default: generated/)",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace files of the same name")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_script(_make, make_parser().parse_args(argv), needs=("pygame",))


def _make(arguments: argparse.Namespace) -> int:
    from training.drives.track_sheet import PICTURE_NAME, write_tracks  # pygame takes 0.3 s to load

    tracks, folder = known_tracks(load_tracks_for([], arguments.track_id, arguments.tracks_dir)), arguments.output_dir
    write_tracks(tracks, folder, arguments.overwrite)
    say(f"saved {count_of(len(tracks), 'track')} and {PICTURE_NAME} to {folder}")
    others = count_tracks(folder) - len(tracks)
    if others:
        note(f"{folder} also holds {count_of(others, 'other track')}")
    train = ["python", "-m", "training.train_ppo", "--tracks-dir", str(folder), "--track-id", "all"]
    say(f"train on them with: {command_line(train)}", limit=None)
    return DONE


if __name__ == "__main__":
    leave(main())
