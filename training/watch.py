"""Watch drivers drive, or drive against them: ``python -m training.watch --model PATH``."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from racer_env.errors import RenderError, TrackError
from racer_env.rendering import CAMERAS, WHOLE
from training.cli import (
    DONE,
    Parser,
    add_driver_arguments,
    add_track_arguments,
    leave,
    run_script,
    say,
    whole_number,
)

if TYPE_CHECKING:
    from racer_env.tracks import Track
    from training.race import Entrant

SIZE = (1280, 720)


def make_parser() -> Parser:
    """Return the command line."""
    parser = Parser(
        prog="python -m training.watch",
        description="Open a window in which drivers drive: several as ghosts on the same track, each alone as far as "
        "it knows. With --drive you drive against them.",
        epilog="keys: space pauses, C changes the camera, V shows or hides rays, T trails, + and - change the speed "
        "from 1/4 to 8, N goes to the next track, Tab to the next car, Enter starts again, Q or Escape ends; with "
        "--drive, the arrows or W A S D drive. Model files contain pickles. They are left closed.",
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
        metavar="FILE.npz",
        help="drives that evaluate --record has saved",
    )
    parser.add_argument("--drive", action="store_true", help="drive yourself, with the keyboard, from the same start")
    parser.add_argument("--laps", type=whole_number(1, 1000), default=3, help="of a race with --drive (default: 3)")
    add_track_arguments(parser, "those that the first model was trained on, then the others", has_config=False)
    parser.add_argument("--camera", choices=CAMERAS, default=WHOLE, help=f"to begin with (default: {WHOLE})")
    add_driver_arguments(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    parser = make_parser()
    arguments = parser.parse_args(argv)
    if not (arguments.model or arguments.replay or arguments.drive):
        parser.error("expected --model, --replay or --drive, or several of them")
    return run_script(_watch, arguments)


def _watch(arguments: argparse.Namespace) -> int:
    from racer_env.rendering.window import Window

    entrants, tracks = _entrants(arguments)
    try:
        window = Window("Top-Down Racer", SIZE)
    except RenderError as error:
        raise RenderError(
            f"{error}; python -m training.evaluate --model MODEL --video lap.mp4 makes a video, which needs none"
        ) from error
    from training.watching import Watching

    try:
        last = Watching(window, entrants, tracks, arguments.camera, arguments.laps if arguments.drive else None).run()
    finally:
        window.close()
    if last:
        say(last.replace("\n", ", "))
    return DONE


def _entrants(arguments: argparse.Namespace) -> "tuple[list[Entrant], list[Track]]":
    """Return who drives, and the tracks to go through."""
    from racer_env.physics import load_physics
    from racer_env.tracks import ALL_TRACKS, load_tracks
    from training.driver import load_driver
    from training.loading import Preparation
    from training.recording import load_recording

    physics = load_physics()
    recordings = [load_recording(path, physics) for path in arguments.replay]
    drivers = [
        load_driver(
            name,
            physics,
            models_dir=arguments.models_dir,
            deterministic=arguments.deterministic,
            seed=arguments.seed,
        )
        for name in arguments.model
    ]
    if recordings:
        tracks = _track_of([recording.track for recording in recordings], arguments.track_id)
    else:
        own = list(drivers[0].track_ids) if drivers else []
        named = arguments.track_id or own
        tracks = load_tracks(named, arguments.tracks_dir) if named else []
        if not arguments.track_id:
            known = {track.fingerprint for track in tracks}
            others = load_tracks([ALL_TRACKS], arguments.tracks_dir)
            tracks += [track for track in others if track.fingerprint not in known]
    with Preparation(tracks[0]):
        from training.race import DriverEntrant, PersonEntrant, ReplayEntrant
    person: list[Entrant] = [PersonEntrant()] if arguments.drive else []
    models = [DriverEntrant(driver, driver.label) for driver in drivers]
    return [*person, *models, *(ReplayEntrant(recording) for recording in recordings)], tracks


def _track_of(tracks: "Sequence[Track]", named: Sequence[str]) -> "list[Track]":
    """Return the one track of some recordings.

    Raises:
        TrackError: They were driven on several, or another one was named.
    """
    for track in tracks[1:]:
        if track.fingerprint != tracks[0].fingerprint:
            raise TrackError(f"the recordings were driven on different tracks, {tracks[0].id} and {track.id}")
    if named:
        raise TrackError(f"a recording is on its own track, {tracks[0].id}; leave --track-id out")
    return [tracks[0]]


if __name__ == "__main__":
    leave(main())
