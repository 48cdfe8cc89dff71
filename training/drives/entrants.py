"""Who drives in ``training.watch``: drivers, recordings, and a person."""

from collections.abc import Sequence

from racer_env.errors import TrackError
from racer_env.physics import load_physics
from racer_env.tracks import ALL_TRACKS, Track, load_tracks
from training.console.tracks import note_changed_tracks
from training.console.warm_up import WarmUp
from training.drivers.loading import load_driver
from training.drives.options import WatchOptions
from training.drives.person import PersonEntrant
from training.drives.race import DriverEntrant, Entrant, ReplayEntrant
from training.drives.recording import load_recording


def gather(options: WatchOptions) -> tuple[list[Entrant], list[Track]]:
    """Return the entrants, and the tracks to go through.

    Raises:
        ModelError: A driver cannot be loaded.
        RecordingError: A recording cannot be replayed here.
        TrackError: A track does not exist, or the recordings are of different tracks.
    """
    physics = load_physics()
    recordings = [load_recording(path, physics) for path in options.replay]
    drivers = [
        load_driver(
            name,
            physics,
            models_dir=options.models_dir,
            deterministic=options.deterministic,
            seed=options.seed,
            vecnorm=None if place else options.vecnorm,
            normalise=bool(place) or not options.no_vecnorm,
        )
        for place, name in enumerate(options.model)
    ]
    if recordings:
        tracks = _track_of([recording.track for recording in recordings], options.track_id)
    else:
        own = list(drivers[0].track_ids) if drivers else []
        named = options.track_id or own
        tracks = load_tracks(named, options.tracks_dir) if named else []
        if not options.track_id:
            known = {track.fingerprint for track in tracks}
            others = load_tracks([ALL_TRACKS], options.tracks_dir)
            tracks += [track for track in others if track.fingerprint not in known]
    for driver in drivers:
        note_changed_tracks(driver.track_fingerprints, driver.label, tracks)
    with WarmUp(tracks[0], now=["racer_env.rendering.turning"]):
        pass
    person: list[Entrant] = [PersonEntrant()] if options.drive else []
    models = [DriverEntrant(driver, driver.label) for driver in drivers]
    return [*person, *models, *(ReplayEntrant(recording) for recording in recordings)], tracks


def _track_of(tracks: Sequence[Track], named: Sequence[str]) -> list[Track]:
    """Return the single track that recordings were driven on.

    Raises:
        TrackError: They were driven on several tracks, or another one was named.
    """
    for track in tracks[1:]:
        if track.fingerprint != tracks[0].fingerprint:
            raise TrackError(f"the recordings were driven on different tracks, {tracks[0].id} and {track.id}")
    if named:
        raise TrackError(f"a recording is on its own track, {tracks[0].id}; leave --track-id out")
    return [tracks[0]]
