"""Finding and loading tracks by name: single files, folders of files, and generated tracks."""

from collections.abc import Sequence
from pathlib import Path

from racer_env.errors import TrackError
from racer_env.json_files import read_json
from racer_env.physics import Physics
from racer_env.project import DEFAULT_TRACKS_DIR
from racer_env.tracks.files import parse_track
from racer_env.tracks.generator import track_of_name
from racer_env.tracks.names import ALL_TRACKS, is_generated
from racer_env.tracks.track import Track


def load_track(name: str | Path, tracks_dir: str | Path | None = None, physics: Physics | None = None) -> Track:
    """Load and check a track.

    Args:
        name: An id, looked up in ``tracks_dir`` and then among the shipped tracks; a path ending in ``.json``; or a
            name such as ``procedural-7-12``, whose track is generated, see ``racer_env.tracks.names``.
        tracks_dir: Folder of the user's own track files.
        physics: Physics to build the track for; None is the project's.

    Raises:
        TrackError: There is no such track, or its file is wrong; the message says what is wrong and where.
    """
    is_own = tracks_dir is not None and (_folder(tracks_dir) / f"{name}.json").is_file()
    if is_generated(str(name)) and not is_own:
        return track_of_name(str(name), physics)
    path = _find(str(name), tracks_dir)
    return parse_track(read_json(path, TrackError, "track"), str(path), physics)


def load_tracks(
    names: Sequence[str | Path], tracks_dir: str | Path | None = None, physics: Physics | None = None
) -> list[Track]:
    """Load several tracks; the name ``all`` stands for every track of the folder, in order of id.

    Raises:
        TrackError: As for ``load_track``; also when a track is named twice.
    """
    wanted: list[str] = []
    for name in names:
        wanted.extend(available_tracks(tracks_dir) if str(name) == ALL_TRACKS else [str(name)])
    tracks = [load_track(name, tracks_dir, physics) for name in wanted]
    seen: dict[str, str] = {}
    for name, track in zip(wanted, tracks, strict=True):
        if track.id in seen:
            raise TrackError(
                f"{seen[track.id]} and {name} are both the track {track.id!r}; name every track once, "
                "and give every file an id of its own"
            )
        seen[track.id] = name
    return tracks


def available_tracks(tracks_dir: str | Path | None = None) -> list[str]:
    """Return the ids of the tracks in a folder; None is the folder of shipped tracks.

    Raises:
        TrackError: The folder does not exist or holds no track.
    """
    folder = DEFAULT_TRACKS_DIR if tracks_dir is None else _folder(tracks_dir)
    ids = sorted(path.stem for path in folder.glob("*.json"))
    if not ids:
        raise TrackError(f"no track files (*.json) in {folder}")
    return ids


def _folder(tracks_dir: str | Path) -> Path:
    folder = Path(tracks_dir)
    if not folder.is_dir():
        raise TrackError(f"tracks folder not found: {folder}")
    return folder


def _find(name: str, tracks_dir: str | Path | None) -> Path:
    if name.endswith(".json"):
        return Path(name)
    folders = [DEFAULT_TRACKS_DIR] if tracks_dir is None else [Path(tracks_dir), DEFAULT_TRACKS_DIR]
    for folder in folders:
        known = available_tracks(folder)
        if name in known:
            return folder / f"{name}.json"
    known = sorted({track_id for folder in folders for track_id in available_tracks(folder)})
    raise TrackError(
        f"no track {name!r} in {' or '.join(str(folder) for folder in folders)}; there are: {', '.join(known)}; "
        "a path to a file ends in .json, procedural-7-12 is generated, and so are sets: procedural:8, "
        "procedural-hard:8, procedural-oval:8"
    )
