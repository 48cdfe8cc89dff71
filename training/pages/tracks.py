"""The tracks of a page: which they are, and their files."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from racer_env.tracks import ALL_TRACKS, Track, load_tracks
from training.pages.names import file_names
from training.pages.options import PageOptions


def page_tracks(options: PageOptions) -> list[Track]:
    """Return the tracks that the options name, or all.

    Raises:
        TrackError: A track does not exist or is wrong.
    """
    return load_tracks(options.track_id or [ALL_TRACKS], options.tracks_dir)


def write_tracks(folder: Path, tracks: Sequence[Track], pars: Mapping[str, Mapping[str, int]]) -> list[dict[str, Any]]:
    """Write the tracks' files into the folder of a page, and return what ``page.json`` says of them.

    Args:
        folder: Folder of the page.
        tracks: The tracks.
        pars: Ticks for gold, silver and bronze, by track id.
    """
    (folder / "tracks").mkdir()
    entries = []
    for track, name in zip(tracks, file_names([track.id for track in tracks]), strict=True):
        file = f"tracks/{name}.json"
        (folder / file).write_text(json.dumps(track.to_json(), indent=1) + "\n", encoding="utf-8")
        entries.append(
            {
                "id": track.id,
                "name": track.name,
                "file": file,
                "fingerprint": track.fingerprint,
                "length": round(track.length, 3),
                "parTicks": pars.get(track.id),
            }
        )
    return entries
