"""Tracks to write: generated ones, those of a folder, or roads from elsewhere, and what is said of these."""

import argparse
from collections.abc import Sequence

from racer_env.errors import ConfigError
from racer_env.tracks import Track
from racer_env.tracks.readers import Reading, make_track, read_roads
from racer_env.tracks.readers.road import LEAST_SCALE, MOST_SCALE
from training.console.messages import note, say
from training.console.tracks import known_tracks, load_tracks_for

NARROWEST = 12.0  # units; half-width of the narrowest roads that the bundled driver learned on
ONLY_FROM = {"name": "--name", "width_is": "--width-is", "half_width": "--half-width", "scale": "--scale", "y": "--y"}


def tracks_of(arguments: argparse.Namespace, usual: Sequence[str]) -> tuple[list[Track], list[list[str]]]:
    """Return the tracks that a command line of ``make_tracks`` asks for, and how each was made of a file, for ``tell``.

    Args:
        arguments: The parsed command line.
        usual: Its ``track_id`` if the user names none.

    Raises:
        ConfigError: Arguments contradict each other.
        TrackError: A file cannot be read, or a track is wrong.
    """
    if not arguments.sources:
        useless = [flag for name, flag in ONLY_FROM.items() if getattr(arguments, name) is not None]
        if useless:
            raise ConfigError(f"{', '.join(useless)} is for files that --from names; name one too")
        return known_tracks(load_tracks_for([], arguments.track_id, arguments.tracks_dir)), []
    if arguments.track_id != usual or arguments.tracks_dir is not None:
        raise ConfigError(
            "--from makes tracks of files, and --track-id and --tracks-dir name others; leave out one or the other"
        )
    return _tracks_from(arguments)


def _tracks_from(arguments: argparse.Namespace) -> tuple[list[Track], list[list[str]]]:
    """Return the tracks made of files, and how each was made."""
    reading = Reading(
        width_is=arguments.width_is,
        half_width=arguments.half_width,
        scale=arguments.scale or 1.0,
        y_is_down=None if arguments.y is None else arguments.y == "down",
    )
    for flag, value in (("--scale", reading.scale), ("--half-width", reading.half_width or 1.0)):
        if not LEAST_SCALE <= value <= MOST_SCALE:
            raise ConfigError(f"expected a {flag} between {LEAST_SCALE:g} and {MOST_SCALE:,.0f}, got {value:g}")
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
    made = [make_track(road, reading) for road in roads]
    return [track for track, _ in made], [[*road.said, *how] for road, (_, how) in zip(roads, made, strict=True)]


def tell(track: Track, how: Sequence[str], scale: float) -> None:
    """Say how a track was made of a file, and how large it is.

    Args:
        track: The track.
        how: Sentences on how it was made.
        scale: Units for each unit of the file.
    """
    units = f"{scale:g} unit{'' if scale == 1 else 's'} for 1 of the file (--scale)"
    say(f"{track.id}: {'; '.join(how)}")
    say(f"{track.id}: {units}; {size_in_words(track)}")
    if track.half_widths.min() < NARROWEST:
        note(
            f"{track.id} is narrower than any road that the bundled driver learned on, half-width {NARROWEST:g}; "
            "--scale and --half-width make it wider"
        )


def size_in_words(track: Track) -> str:
    """Return how long a track is, and how wide."""
    low, high = f"{track.half_widths.min():.1f}", f"{track.half_widths.max():.1f}"
    width = f"half-width {low}" if low == high else f"half-widths {low} to {high}"
    return f"{track.length:,.0f} units long, {width}"
