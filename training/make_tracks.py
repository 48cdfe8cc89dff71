"""Write tracks as files with a picture, generated or from elsewhere: ``python -m training.make_tracks``."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from training.console.arguments import add_track_arguments
from training.console.messages import command_line, count_of, note, say
from training.console.parser import DONE, Parser, leave, positive_number, run_script
from training.console.tracks import count_tracks
from training.drives.roads import tell, tracks_of

DEFAULT_SET = "procedural:12"


def make_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="python -m training.make_tracks",
        examples=(
            "python -m training.make_tracks --track-id procedural:12",
            "python -m training.make_tracks --from examples/circuit.csv --scale 2 --output-dir circuit",
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
    _add_source_arguments(parser.add_argument_group("roads from elsewhere"))
    return parser


def _add_source_arguments(group: argparse._ActionsContainer) -> None:
    """Add --from, and what is said of the files that it names."""
    group.add_argument(
        "--from",
        dest="sources",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="files to make tracks of instead: control points of a game (.json, or plain literals in .ts and .js), "
        "lines of x, y, w_right, w_left (.csv), closed paths (.svg)",
    )
    group.add_argument(
        "--name", metavar="ID", help="id of the track, if there is one (default: as in the file, or its name)"
    )
    group.add_argument(
        "--width-is",
        choices=("half", "full"),
        help="what a width is where the file does not say (default: none is taken)",
    )
    group.add_argument(
        "--half-width",
        type=positive_number,
        metavar="W",
        help="half of the road's width in units (default: the file's)",
    )
    group.add_argument(
        "--scale",
        type=positive_number,
        metavar="S",
        help="units of the game for each unit of the file, for each metre of a line (default: 1)",
    )
    group.add_argument(
        "--y", choices=("up", "down"), help="where y grows to in the file (default: down in .svg, else up)"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_script(_make, make_parser().parse_args(argv), needs=("pygame",))


def _make(arguments: argparse.Namespace) -> int:
    from training.drives.track_sheet import PICTURE_NAME, check_places, write_tracks  # pygame takes 0.3 s to load

    folder = arguments.output_dir
    tracks, made = tracks_of(arguments, make_parser().parse_args([]).track_id)
    check_places(tracks, folder, arguments.overwrite)
    for track, how in zip(tracks, made, strict=False):
        tell(track, how, arguments.scale or 1.0)
    write_tracks(tracks, folder)
    say(f"saved {count_of(len(tracks), 'track')} and {PICTURE_NAME} to {folder}")
    others = count_tracks(folder) - len(tracks)
    if others:
        note(f"{folder} also holds {count_of(others, 'other track')}")
    train = ["python", "-m", "training.train_ppo", "--tracks-dir", str(folder), "--track-id", "all"]
    say(f"train on them with: {command_line(train)}", limit=None)
    return DONE


if __name__ == "__main__":
    leave(main())
