"""Tracks written as files, with a picture of all of them."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pygame

from racer_env.errors import ConfigError
from racer_env.rendering import DARK, style
from racer_env.rendering.camera import Camera
from racer_env.rendering.painter import Painter
from racer_env.rendering.readout import draw_text
from racer_env.rendering.scenery import ROWS, SQUARE
from racer_env.tracks import Track
from racer_env.tracks.track import FloatArray
from training.drives.roads import size_in_words

PALETTE = style.PALETTES[DARK]
PICTURE_NAME = "tracks.png"
TILES = ((1, 960), (4, 640), (64, 320))  # most tracks, and the side of one track's picture in pixels
SMALLEST_TILE = 240  # pixels, for more tracks
MAX_COLUMNS = 8
SMOOTHING = 2  # factor by which a track is drawn larger and then shrunk, for smooth edges

# Shares of a tile's side: name, margin, least length of the start line, length of the arrow, outline.
NAME_SHARE, MARGIN_SHARE, START_SHARE, ARROW_SHARE, OUTLINE_SHARE = 0.07, 0.07, 0.035, 0.1, 0.004
LARGEST_NAME = 40  # pixels

# Along and across the arrow, in its length.
_ARROW = np.array([(0.5, 0), (0.1, 0.24), (0.1, 0.08), (-0.5, 0.08), (-0.5, -0.08), (0.1, -0.08), (0.1, -0.24)])


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
    """Write a picture of tracks side by side, each with its name, its size and the direction of driving."""
    columns, side = min(MAX_COLUMNS, math.ceil(math.sqrt(len(tracks)))), tile_side(len(tracks))
    sheet = pygame.Surface((columns * side, math.ceil(len(tracks) / columns) * side), depth=32)
    sheet.fill(PALETTE.outside)
    for index, track in enumerate(tracks):
        _draw_tile(sheet.subsurface((index % columns * side, index // columns * side, side, side)), track)
    pygame.image.save(sheet, path)


def tile_side(count: int) -> int:
    """Return the side of one track's picture, in pixels, on a sheet of ``count`` tracks."""
    return next((side for most, side in TILES if count <= most), SMALLEST_TILE)


def _draw_tile(tile: pygame.Surface, track: Track) -> None:
    """Draw a track below its name and its size."""
    side = tile.get_width()
    name = min(round(NAME_SHARE * side), LARGEST_NAME)
    head = round(2.4 * name)
    size, margin = (side * SMOOTHING, (side - head) * SMOOTHING), round(MARGIN_SHARE * side * SMOOTHING)
    large = pygame.Surface(size, depth=32)
    large.fill(PALETTE.outside)
    painter = Painter(track, (size[0] - 2 * margin, size[1] - margin), readout=False)
    large.blit(painter.draw([]), (margin, 0))
    _draw_start(large, track, painter.camera_on(None), np.array([margin, 0.0]))
    tile.blit(pygame.transform.smoothscale(large, (side, side - head)), (0, head))
    width = side - 8
    draw_text(tile, track.id, (side / 2, name * 0.4), name, PALETTE.text, "midtop", width)
    draw_text(tile, size_in_words(track), (side / 2, name * 1.4), round(name * 0.8), PALETTE.text_dim, "midtop", width)


def _draw_start(surface: pygame.Surface, track: Track, camera: Camera, corner: FloatArray) -> None:
    """Draw the start line large enough to be seen, and beside it an arrow in the direction of driving."""
    side = surface.get_width()
    line = track.geometry.centre_line
    places, tangents = line.point_and_tangent_at(np.arange(0.0, track.length, 5.0))
    road = camera.to_pixels(places) + corner
    along = tangents[0] * (1.0, -1.0)
    across = np.array([-along[1], along[0]])

    half = max(camera.scale * float(track.half_widths[0]), START_SHARE * side / 2)
    thick = max(camera.scale * ROWS * SQUARE, 0.006 * side)  # covers the chequered one
    box = np.array([(0, -half), (thick, -half), (thick, half), (0, half)])
    _fill(surface, road[0] + box @ np.stack([along, across]), style.WHITE)

    length = ARROW_SHARE * side
    arrow, aside = _ARROW @ np.stack([along, across]) * length, half + 0.35 * length
    sides = [road[0] + along * (length / 2) + across * aside * sign for sign in (1, -1)]
    middle = max(sides, key=lambda place: _room(surface, road, place + arrow))
    _fill(surface, middle + arrow, PALETTE.ray)


def _room(surface: pygame.Surface, road: FloatArray, points: FloatArray) -> float:
    """Return how far points are from the road's centre line in pixels; below 0 beyond the picture."""
    beyond = np.minimum(points, np.array(surface.get_size()) - points).min()
    return float(min(beyond, 0.0) or np.linalg.norm(points[:, None] - road, axis=2).min())


def _fill(surface: pygame.Surface, points: FloatArray, colour: style.Colour) -> None:
    """Fill a shape, with a dark outline that stands out from any ground."""
    corners, outline = points.tolist(), OUTLINE_SHARE * surface.get_width()
    pygame.draw.lines(surface, style.BLACK, True, corners, round(2 * outline))
    for corner in corners:  # round the joints
        pygame.draw.circle(surface, style.BLACK, corner, outline)
    pygame.draw.polygon(surface, colour, corners)
