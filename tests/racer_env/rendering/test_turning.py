"""A map drawn turned and scaled."""

import math

import numpy as np
import pygame
import pytest
from numba import typeof

from racer_env.rendering import turning
from racer_env.rendering.camera import Camera
from racer_env.rendering.painter import Painter
from racer_env.rendering.turning import draw_turned
from racer_env.tracks import Track
from tests.racer_env.rendering.test_painter import make_car

BEYOND = (0x123456, 0x102030)
STRIPE = 8.0  # units
MAP = (60, 40)  # pixels
SCALE = 2.0  # pixels of the map per unit


@pytest.fixture
def picture() -> pygame.Surface:
    """A map of noise, whose left top corner is at (0, 0) of the world."""
    surface = pygame.Surface(MAP, depth=32)
    pygame.surfarray.pixels3d(surface)[...] = np.random.default_rng(1).integers(0, 256, (*MAP, 3))
    return surface


def drawn(picture: pygame.Surface, camera: Camera) -> np.ndarray:
    """Return what a camera sees of it, (width, height, 3), and that nothing else is drawn on."""
    surface = pygame.Surface((80, 70), depth=32)
    surface.fill((1, 2, 3))
    draw_turned(surface, camera, picture, (camera.x * SCALE, -camera.y * SCALE), SCALE, BEYOND, STRIPE)
    left, top, width, height = camera.area
    pixels = pygame.surfarray.array3d(surface).astype(int)
    inside = pixels[left : left + width, top : top + height].copy()
    pixels[left : left + width, top : top + height] = (1, 2, 3)
    assert (pixels == (1, 2, 3)).all()
    return inside


def test_a_map_that_is_not_turned_is_as_it_is(picture: pygame.Surface) -> None:
    """Pixel by pixel, where whole pixels fall on whole pixels."""
    camera = Camera(15.0, -10.0, SCALE, (10, 5, 40, 20), 24.0)
    assert np.array_equal(drawn(picture, camera), pygame.surfarray.array3d(picture)[10:50, 10:30])


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_map_is_turned_counter_clockwise(picture: pygame.Surface, quarters: int) -> None:
    """By quarters, it is the same pixels elsewhere."""
    camera = Camera(15.0, -10.0, SCALE, (10, 5, 20, 20), 24.0, turn=quarters * math.pi / 2)
    rows = pygame.surfarray.array3d(picture)[20:40, 10:30].swapaxes(0, 1)
    assert np.abs(drawn(picture, camera).swapaxes(0, 1) - np.rot90(rows, quarters)).max() <= 1


def test_pixels_in_between_are_mixed(picture: pygame.Surface) -> None:
    """Half a pixel to the right and a quarter down, the nearer ones of the four around a place count for more."""
    camera = Camera(15.25, -10.125, SCALE, (10, 5, 40, 20), 24.0)
    source = pygame.surfarray.array3d(picture).astype(float)
    right = (source[10:50, 10:31] + source[11:51, 10:31]) / 2
    expected = 0.75 * right[:, :-1] + 0.25 * right[:, 1:]
    assert np.abs(drawn(picture, camera) - expected).max() <= 1


def test_what_a_camera_sees_is_where_it_says(picture: pygame.Surface) -> None:
    """Also turned, scaled, and around a place that is not in the middle."""
    pygame.surfarray.pixels3d(picture)[...] = 0
    picture.fill((255, 255, 255), (40, 22, 2, 2))  # around the point (20.5, -11.5) of the world
    camera = Camera(17.0, -9.0, 5.0, (4, 6, 70, 60), 24.0, turn=0.7, anchor=(0.5, 0.7))
    weights = np.clip(drawn(picture, camera)[..., 0] - 0x12, 0, None)  # all but what is beyond the map
    middle = [(weights * place).sum() / weights.sum() + 0.5 for place in np.indices(weights.shape)]
    assert (middle[0] + 4, middle[1] + 6) == pytest.approx(camera.to_pixels((20.5, -11.5)), abs=0.3)


@pytest.mark.parametrize("turn", [0.0, 1.0, -2.5])
def test_stripes_go_on_beyond_the_map(picture: pygame.Surface, turn: float) -> None:
    """Turned with the world, and of their width in it."""
    camera = Camera(-103.0, 50.0, 3.0, (0, 0, 80, 70), 24.0, turn=turn)
    right, down = np.indices((80, 70)) + 0.5 - camera.middle[:, None, None]
    x = camera.x + (math.cos(turn) * right - math.sin(turn) * down) / camera.scale
    pixels = drawn(picture, camera)
    is_sure = np.abs(x / STRIPE - np.round(x / STRIPE)) > 0.01
    expected = np.where((x // STRIPE % 2 == 0)[..., None], (0x12, 0x34, 0x56), (0x10, 0x20, 0x30))
    assert (pixels == expected)[is_sure].all()


def test_what_is_compiled_in_advance_is_what_a_frame_needs(ring: Track, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the same types, or the first frame would wait after all."""
    types = list[object]()
    monkeypatch.setattr(turning, "_copy", lambda *arguments: types.append([typeof(each) for each in arguments]))
    turning.compile_kernels()
    Painter(ring, (640, 400), camera="heading").draw([make_car(200.0, 0.0)])
    assert len(types) == 2
    assert types[0] == types[1]
