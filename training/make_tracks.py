"""Write tracks as files, with a picture: generated ones, or roads from a game, a racetrack database or a drawing.

``python -m training.make_tracks --track-id procedural:12`` or ``python -m training.make_tracks --from circuit.csv``.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from racer_env.errors import ConfigError
from racer_env.tracks import Track
from racer_env.tracks.readers import Reading, make_track, read_roads
from training.console.arguments import add_track_arguments
from training.console.messages import command_line, count_of, note, say
from training.console.parser import DONE, Parser, leave, positive_number, run_script
from training.console.tracks import count_tracks, known_tracks, load_tracks_for

DEFAULT_SET = "procedural:12"
NARROWEST = 12.0  # units; half-width of the narrowest roads that the bundled driver learned on
MOST = 10_000.0  # of --scale and --half-width, and one over the least
ONLY_FROM = {"name": "--name", "width_is": "--width-is", "half_width": "--half-width", "scale": "--scale", "y": "--y"}


def make_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="python -m training.make_tracks",
        examples=(
            "python -m training.make_tracks --track-id procedural:12",
            "python -m training.make_tracks --track-id procedural-hard:4 --track-seed 7 --output-dir hard",
            "python -m training.make_tracks --from tracks.ts --width-is half --output-dir mine",
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
    from training.drives.track_sheet import PICTURE_NAME, write_tracks  # pygame takes 0.3 s to load

    tracks, folder = _tracks(arguments), arguments.output_dir
    write_tracks(tracks, folder, arguments.overwrite)
    say(f"saved {count_of(len(tracks), 'track')} and {PICTURE_NAME} to {folder}")
    others = count_tracks(folder) - len(tracks)
    if others:
        note(f"{folder} also holds {count_of(others, 'other track')}")
    train = ["python", "-m", "training.train_ppo", "--tracks-dir", str(folder), "--track-id", "all"]
    say(f"train on them with: {command_line(train)}", limit=None)
    return DONE


def _tracks(arguments: argparse.Namespace) -> list[Track]:
    """Return the tracks to write.

    Raises:
        ConfigError: Arguments contradict each other.
        TrackError: A file cannot be read, or a track is wrong.
    """
    if not arguments.sources:
        useless = [flag for name, flag in ONLY_FROM.items() if getattr(arguments, name) is not None]
        if useless:
            raise ConfigError(f"{', '.join(useless)} is for files that --from names; name one too")
        return known_tracks(load_tracks_for([], arguments.track_id, arguments.tracks_dir))
    if arguments.track_id != make_parser().parse_args([]).track_id or arguments.tracks_dir is not None:
        raise ConfigError(
            "--from makes tracks of files, and --track-id and --tracks-dir name others; leave out one or the other"
        )
    return _tracks_from(arguments)


def _tracks_from(arguments: argparse.Namespace) -> list[Track]:
    """Return the tracks made of files, and say how each was taken."""
    reading = Reading(
        width_is=arguments.width_is,
        half_width=arguments.half_width,
        scale=arguments.scale or 1.0,
        y_is_down=None if arguments.y is None else arguments.y == "down",
    )
    for flag, value in (("--scale", reading.scale), ("--half-width", reading.half_width or 1.0)):
        if not 1 / MOST <= value <= MOST:
            raise ConfigError(f"expected a {flag} between {1 / MOST:g} and {MOST:,.0f}, got {value:g}")
    roads = [road for path in arguments.sources for road in read_roads(path, reading)]
    if arguments.name is not None:
        if len(roads) > 1:
            raise ConfigError(f"--name is for one track, and the files hold {len(roads):,}: leave it out")
        roads[0].id = arguments.name
    seen: dict[str | None, str] = {}
    for road in roads:
        if road.id in seen:
            raise ConfigError(
                f"{seen[road.id]} and {road.where} are both the track {road.id!r}; rename one, or take them one "
                "by one with --name"
            )
        seen[road.id] = road.where
    made = [(make_track(road, reading), road.said) for road in roads]
    for (track, how), taken in made:
        _tell(track, [*taken, *how], reading.scale)
    return [track for (track, _), _ in made]


def _tell(track: Track, how: Sequence[str], scale: float) -> None:
    """Say how a track was made of a file, and how large it is."""
    low, high = track.half_widths.min(), track.half_widths.max()
    units = f"{scale:g} unit{'' if scale == 1 else 's'} for 1 of the file (--scale)"
    say(f"{track.id}: {'; '.join(how)}")
    say(f"{track.id}: {units}; {track.length:,.0f} units long, half-widths {low:.1f} to {high:.1f}")
    if low < NARROWEST:
        note(
            f"{track.id} is narrower than any road that the bundled driver learned on, half-width {NARROWEST:g}; "
            "--scale and --half-width make it wider"
        )


if __name__ == "__main__":
    leave(main())
