"""The tracks that a script drives on: loading them, and noticing changed ones."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from racer_env.bridge.bridge import Bridge
from racer_env.errors import TrackError
from racer_env.project import DEFAULT_TRACKS_DIR
from racer_env.tracks import ALL_TRACKS, AnyTrack, Track, available_tracks, known_track, load_track, load_tracks
from racer_env.tracks.names import is_generated, is_track_id
from training.console.messages import note


def load_tracks_for(
    own: Sequence[str], names: Sequence[str], tracks_dir: Path | None, bridge: Bridge | None = None
) -> list[AnyTrack]:
    """Load the tracks that a user named; else the driver's own; else all in the user's folder; else the first one.

    A folder goes before the driver's own tracks if these are generated ones.

    Args:
        own: Ids of the tracks that the driver was trained on; empty if it does not say, or there is no driver yet.
        names: Track names that the user gave.
        tracks_dir: Folder of the user's own track files.
        bridge: Bridge that has the tracks; None is the embedded simulator.

    Raises:
        TrackError: A track does not exist or is wrong.
    """
    for name in own if not names else ():
        # The file of a driver, which may be a stranger's, says where it was trained; it must not name a file to open.
        if name.endswith(".json") or (bridge is None and not is_track_id(name)):
            raise TrackError(
                f"the driver was trained on {str(name)[:80]!r}, which is no track's id; name a track with --track-id"
            )
    if tracks_dir is not None and all(is_generated(name) for name in own):
        own = ()  # they need no folder, so whoever names one means the tracks in it
    wanted = names or own or ["track-01" if tracks_dir is None else ALL_TRACKS]
    try:
        return bridge.tracks(wanted, tracks_dir) if bridge is not None else [*load_tracks(wanted, tracks_dir)]
    except TrackError as error:
        if names or not own:
            raise
        raise TrackError(
            f"{error}; the driver was trained there, so name its --tracks-dir or another --track-id"
        ) from error


def known_tracks(tracks: Sequence[AnyTrack]) -> list[Track]:
    """Return the tracks, all of which the simulator must be able to drive on.

    Raises:
        RenderError: Only the bridge knows one of them.
    """
    return [known_track(track) for track in tracks]


def counterpart(bridge: Bridge, track: AnyTrack) -> Track | None:
    """Return the track here with which a bridge's track is to be compared; None if there is none.

    A track that was loaded from the user's own file is its own counterpart, and otherwise the shipped or generated
    track of its id is.
    """
    if isinstance(track, Track) and not bridge.is_learned(track):
        return track
    if not is_track_id(track.id):
        return None
    with contextlib.suppress(TrackError):  # there is no such file
        file = load_track(track.id if is_generated(track.id) else DEFAULT_TRACKS_DIR / f"{track.id}.json")
        return file if file.id == track.id else None
    return None


def simulated_track(bridge: Bridge | None, track: AnyTrack) -> AnyTrack | None:
    """Return the track that the simulator drives on first, as it also does to see a game's roads; None if on none."""
    if bridge is None:
        return track
    return None if bridge.has_extensions else counterpart(bridge, track)


def count_tracks(folder: Path) -> int:
    """Return the number of track files in a folder.

    Raises:
        TrackError: The folder holds no track file.
    """
    return len(available_tracks(folder))


def track_fingerprints(tracks: Sequence[AnyTrack]) -> dict[str, str | None]:
    """Return the fingerprint of each track by id; None if a bridge does not report it."""
    return {track.id: track.fingerprint if isinstance(track, Track) else None for track in tracks}


def note_changed_tracks(known: dict[str, Any], driver: str, tracks: Sequence[AnyTrack]) -> None:
    """Say which tracks have changed since a driver was trained on them.

    Args:
        known: Fingerprints at that time, as returned by ``track_fingerprints``.
        driver: Name of the driver.
        tracks: The tracks as they are now.
    """
    for track_id, fingerprint in track_fingerprints(tracks).items():
        if known.get(track_id) not in (None, fingerprint) and fingerprint is not None:
            note(f"{track_id} is not the track of that name that {driver} was trained on: its file has changed")
