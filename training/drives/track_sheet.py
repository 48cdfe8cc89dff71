"""Tracks written as files, with a picture of all of them."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import pygame

from racer_env.errors import ConfigError
from racer_env.rendering import style
from racer_env.rendering.painter import Painter
from racer_env.rendering.readout import draw_text
from racer_env.tracks import Track

PICTURE_NAME = "tracks.png"
TILE = 240  # pixels, side of one track's picture
MAX_COLUMNS = 8


def check_places(tracks: Sequence[Track], folder: Path, overwrite: bool) -> None:
    """Refuse to write tracks where something else is.

    Args:
        tracks: Tracks to write.
        folder: Folder to write to.
        overwrite: Whether files of the same names are replaced.

    Raises:
        ConfigError: Files of these names exist, or the path is not a usable folder.
    """
    if folder == Path():
        raise ConfigError("--output-dir is empty; name a folder, as the files would lie among those of the project")
    places = [*(folder / f"{track.id}.json" for track in tracks), folder / PICTURE_NAME]
    folders = [path for path in places if path.is_dir()]
    if folders:
        raise ConfigError(f"{folders[0]} is a folder, where a file would be written; name another --output-dir")
    there = next((path for path in places if path.exists()), None)
    if there is not None and not overwrite:
        raise ConfigError(f"{there} exists; name another --output-dir, or replace it with --overwrite")


def write_tracks(tracks: Sequence[Track], folder: Path) -> None:
    """Write tracks as files, and a picture of them; files of the same names are replaced.

    Args:
        tracks: Tracks to write and draw.
        folder: Folder to write to; it is made if necessary.

    Raises:
        OSError: A file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for track in tracks:
        path = folder / f"{track.id}.json"
        path.write_text(json.dumps(track.to_json(), indent=1) + "\n", encoding="utf-8")
    draw_tracks(tracks, folder / PICTURE_NAME)


def draw_tracks(tracks: Sequence[Track], path: Path) -> None:
    """Write a picture of tracks side by side, each with its name."""
    columns = min(MAX_COLUMNS, math.ceil(math.sqrt(len(tracks))))
    sheet = pygame.Surface((columns * TILE, math.ceil(len(tracks) / columns) * TILE))
    sheet.fill(style.OUTSIDE)
    for index, track in enumerate(tracks):
        left, top = index % columns * TILE, index // columns * TILE
        tile = Painter(track, (TILE, TILE - 28), readout=False).draw([])
        sheet.blit(tile, (left, top + 24))
        draw_text(sheet, track.id, (left + TILE / 2, top + 6), 20, style.TEXT, "midtop", TILE - 8)
    pygame.image.save(sheet, path)
