"""The ground of a track."""

import numpy as np
import pygame
import pytest

from racer_env.rendering import style
from racer_env.rendering.painter import Painter
from racer_env.rendering.scenery import MIN_WALL, WALL_WIDTH, Scenery
from racer_env.tracks import Track
from tests.racer_env.rendering.test_painter import make_car

DARK = style.PALETTES["dark"]


def test_walls_are_equally_thick_all_around(ring: Track) -> None:
    """Where they slant, and between their joints, too; from far above they are at least 2 pixels thick."""
    for scale, expected in ((4.0, WALL_WIDTH * 4.0), (0.5, MIN_WALL)):
        scenery = Scenery(ring, scale, False, DARK)
        share = np.clip((pygame.surfarray.array3d(scenery.picture)[..., 2] - 44.0) / (DARK.wall[2] - 44.0), 0, 1)
        thick = []
        for place in (ring.geometry.outer_wall[:-1] + ring.geometry.outer_wall[1:])[::7] / 2:
            across = place / np.hypot(*place)
            steps = np.arange(0.0, 1.5 * WALL_WIDTH, 0.25 / scale)  # outward, where there is nothing else
            x, y = np.floor([scenery.place_of(*(place + across * step)) for step in steps]).astype(int).T
            thick.append(share[x, y].sum() * 0.25)
        assert min(thick) > expected / 2 - 0.3
        assert max(thick) < expected / 2 + 1.2


def test_grain_changes_little_and_within_the_walls_alone(ring: Track) -> None:
    """Enough to feel speed; what lies outside goes on beyond the picture, where there is none."""
    flat, grainy = (
        pygame.surfarray.array3d(Scenery(ring, 2.0, has_grain, DARK).picture).astype(int) for has_grain in (False, True)
    )
    difference = np.abs(flat - grainy).max(axis=2)
    assert 1 < difference.max() <= 6
    outside = (flat == DARK.outside).all(axis=2)
    assert difference[outside].max() == 0
    assert (difference[~outside] > 0).mean() > 0.5


@pytest.mark.parametrize(("camera", "has_grain"), [("track", False), ("follow", True)])
def test_the_camera_that_follows_shows_grain(ring: Track, camera: str, has_grain: bool) -> None:
    """Pictures of the whole track stay flat, which keeps their files small."""
    painter = Painter(ring, (640, 400), camera=camera, rays=False, trails=False, readout=False)
    painter.draw([make_car(200.0, 0.0)])
    colours = {tuple(pixel) for pixel in painter.pixels().reshape(-1, 3).tolist()}
    near = {colour for colour in colours if max(abs(a - b) for a, b in zip(colour, DARK.road, strict=True)) <= 2}
    assert (len(near) > 4) == has_grain
