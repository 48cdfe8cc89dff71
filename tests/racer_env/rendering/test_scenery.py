"""The ground of a track."""

import math

import numpy as np
import pygame
import pytest

from racer_env.rendering import style
from racer_env.rendering.camera import turned
from racer_env.rendering.grain import STRIPE, mown
from racer_env.rendering.painter import Painter
from racer_env.rendering.scenery import MIN_WALL, WALL_WIDTH, Scenery
from racer_env.tracks import Track
from tests.racer_env.rendering.test_painter import make_car

DARK, LIGHT = style.PALETTES["dark"], style.PALETTES["light"]


def test_walls_are_equally_thick_all_around(ring: Track) -> None:
    """Where they slant, and between their joints, too; from far above they are at least 2 pixels thick."""
    for scale, expected in ((4.0, WALL_WIDTH * 4.0), (0.5, MIN_WALL)):
        scenery = Scenery(ring, scale, DARK)
        ground = float(mown(DARK.outside)[2])
        share = np.clip((pygame.surfarray.array3d(scenery.picture)[..., 2] - ground) / (DARK.wall[2] - ground), 0, 1)
        thick = []
        for place in (ring.geometry.outer_wall[:-1] + ring.geometry.outer_wall[1:])[::7] / 2:
            across = place / np.hypot(*place)
            steps = np.arange(0.0, 1.5 * WALL_WIDTH, 0.25 / scale)  # outward, where there is nothing else
            x, y = np.floor([scenery.place_of(*(place + across * step)) for step in steps]).astype(int).T
            thick.append(share[x, y].sum() * 0.25)
        assert min(thick) > expected / 2 - 0.5  # as the rim beside them is darker than grass
        assert max(thick) < expected / 2 + 1.2


def colours_on(scenery: Scenery, radius: float, turns: np.ndarray) -> np.ndarray:
    """Return the colours (n, 3) on the ring at a distance from its middle, for shares (n,) of the way around."""
    angles = 2 * math.pi * turns
    places = np.stack([np.cos(angles), np.sin(angles)], axis=1) * radius
    x, y = np.floor([scenery.place_of(*place) for place in places]).astype(int).T
    colours: np.ndarray = pygame.surfarray.array3d(scenery.picture)[x, y]
    return colours


@pytest.mark.parametrize(("share", "darker"), [(0.12, 0.81), (0.23, 0.9), (0.32, 0.9), (0.41, 1.0), (0.8, 1.0)])
def test_grooves_darken_the_middle_of_the_road(ring: Track, share: float, darker: float) -> None:
    """By a tenth up to 36 % of the way to its edge, and again up to 18 %."""
    half = float(ring.geometry.centre_line.half_width_at(0.0))
    for side in (1, -1):
        colours = colours_on(Scenery(ring, 2.0, LIGHT), 200.0 + side * share * half, np.linspace(0.0, 1.0, 99))
        assert np.median(colours, axis=0) == pytest.approx(np.array(LIGHT.road) * darker, abs=1.5)


def test_seams_cross_the_road_about_every_24_units(ring: Track) -> None:
    """As many as fit evenly, and a bit darker than the asphalt."""
    scenery, count = Scenery(ring, 4.0, LIGHT), 2 * round(ring.length / 24 / 2)
    seams = np.arange(1, count) / count  # the start line covers the first one
    for radius in (190.0, 210.0):
        on, beside = (colours_on(scenery, radius, seams + off / ring.length) for off in (0.0, 2.0))
        assert np.median(on / beside) == pytest.approx(0.84, abs=0.03)
        assert np.mean(on / beside < 0.95) > 0.95


def test_walls_throw_shadows_to_the_south_east(ring: Track) -> None:
    """On the ground beside them; a dark rim lies on the grass all around."""
    scenery, reach = Scenery(ring, 4.0, LIGHT), float(np.hypot(*ring.geometry.outer_wall[0]))
    inner = float(np.hypot(*ring.geometry.inner_wall[0]))
    south_east, north_west = np.linspace(-0.15, -0.1, 9), np.linspace(0.35, 0.4, 9)
    rim = colours_on(scenery, reach + 0.9 * WALL_WIDTH, north_west)
    assert np.median(rim, axis=0) == pytest.approx(np.array(LIGHT.wall_shadow), abs=2)
    for radius in (inner, reach):
        shaded, plain = (colours_on(scenery, radius + 0.75 * WALL_WIDTH, turns) for turns in (south_east, north_west))
        assert np.median(shaded / plain) == pytest.approx(0.7, abs=0.03)


def test_stripes_lie_on_the_grass_beyond_the_walls(ring: Track) -> None:
    """Also within the track, and where they are in the world."""
    scenery = Scenery(ring, 2.0, DARK)
    pixels = pygame.surfarray.array3d(scenery.picture)
    for x, colour in (
        (8.0, mown(DARK.outside)),
        (24.0, DARK.outside),
        (-8.0, DARK.outside),
        (-24.0, mown(DARK.outside)),
    ):
        left, top = np.floor(scenery.place_of(x, 0.0)).astype(int)
        assert tuple(pixels[left, top]) == colour
        assert tuple(pixels[left, 2]) == colour  # at the top of the picture


@pytest.mark.parametrize(("scale", "has_specks"), [(1.5, False), (2.0, True)])
def test_specks_are_drawn_where_they_are_large_enough_to_be_seen(ring: Track, scale: float, has_specks: bool) -> None:
    """Pictures of a whole track have none, which keeps their files small."""
    turns = np.linspace(0.0, 1.0, 20000)
    half = float(ring.geometry.centre_line.half_width_at(0.0))
    shoulder = colours_on(Scenery(ring, scale, DARK), 200.0 + half + 10.0, turns)
    assert (shoulder != DARK.shoulder).any() == has_specks


def test_the_ground_goes_on_beyond_the_picture(ring: Track) -> None:
    """A frame has the same stripes there, for each camera; no edge of the map is seen."""
    for camera in ("track", "follow", "heading"):
        painter = Painter(ring, (640, 400), camera=camera, rays=False, trails=False, readout=False)
        car = make_car(0.0, 330.0, 0.3)
        view = painter.camera_on(car)
        painter.draw([car])
        right, down = np.meshgrid(np.arange(640) + 0.5, np.arange(400) + 0.5)
        offset = turned(np.stack([right - view.middle[0], view.middle[1] - down], axis=-1) / view.scale, -view.turn)
        x, y = offset[..., 0] + view.x, offset[..., 1] + view.y
        is_sure = (np.abs(x / STRIPE - np.round(x / STRIPE)) * STRIPE * view.scale > 1) & (np.hypot(x, y) > 300)
        is_sure &= np.hypot(x - car.x, y - car.y) > 40
        expected = np.where((x // STRIPE % 2 == 0)[..., None], mown(DARK.outside), DARK.outside)
        assert is_sure.sum() > 1000
        assert np.abs(painter.pixels().astype(int) - expected)[is_sure].max() <= 1, camera
