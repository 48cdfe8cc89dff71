"""Drawing a map turned and scaled, compiled: pygame turns all of a picture, seen or not, in several times that time."""

import math

import numpy as np
import numpy.typing as npt
import pygame

from racer_env.rendering.camera import Camera
from racer_env.simulator.compile_cache import cached_njit

_HALF = 16  # bits of a fixed-point number behind the point
_ONE = 1 << _HALF
_STEPS = 16  # places between two pixels that are told apart
_RED_BLUE, _GREEN = np.uint32(0xFF00FF), np.uint32(0x00FF00)


def draw_turned(
    surface: pygame.Surface,
    camera: Camera,
    picture: pygame.Surface,
    at: tuple[float, float],
    scale: float,
    beyond: tuple[int, int],
    stripe: float,
) -> None:
    """Draw a map of the world as a camera sees it.

    Args:
        surface: What is drawn on, 32 bits a pixel; all of the camera's area is overwritten.
        camera: The camera.
        picture: The map, with north up, 32 bits a pixel.
        at: Its pixel at the camera's place, x and y.
        scale: Its pixels per unit.
        beyond: Pixel values where the map ends, of stripes from south to north in turns; the first one begins at x = 0.
        stripe: Their width in units.
    """
    left, top, width, height = camera.area
    ratio = scale / camera.scale
    along, across = math.cos(camera.turn) * ratio, math.sin(camera.turn) * ratio
    x, y = np.array([left + 0.5, top + 0.5]) - camera.middle  # the middle of the first pixel
    first = (at[0] + along * x - across * y - 0.5, at[1] + across * x + along * y - 0.5)
    source, target = (pygame.surfarray.pixels2d(each).T for each in (picture, surface))
    places = [round(number * _ONE) for number in (*first, along, across)]
    zero = round((at[0] - camera.x * scale - 0.5) * _ONE)  # of the world, on the way to the right
    _copy(source, target, left, top, width, height, *places, beyond, zero, 1 / (stripe * scale * _ONE))


def compile_kernels() -> None:
    """Compile, or load, what draws."""
    surface = pygame.Surface((2, 2), depth=32)
    draw_turned(surface, Camera(0.0, 0.0, 1.0, (0, 0, 2, 2), 1.0), surface.copy(), (0.0, 0.0), 1.0, (0, 0), 1.0)


@cached_njit(error_model="numpy")
def _copy(
    source: npt.NDArray[np.uint32],
    target: npt.NDArray[np.uint32],
    left: int,
    top: int,
    width: int,
    height: int,
    first_x: int,
    first_y: int,
    along: int,
    across: int,
    beyond: tuple[int, int],
    zero: int,
    stripes: float,
) -> None:
    """Fill an area of the target; a pixel is the mean of the four of the source around it, the nearer the weightier.

    All places in the source are in fixed point: of the first pixel, how far apart two pixels of a row are, and of the
    first stripe's left side. ``stripes`` turns such a distance to the right into a number of stripes.
    """
    last_row, last_column = source.shape[0] - 1, source.shape[1] - 1
    for row in range(height):
        x, y = first_x - across * row, first_y + along * row
        for column in range(width):
            i, j = y >> _HALF, x >> _HALF
            if 0 <= i < last_row and 0 <= j < last_column:
                right, down = np.uint32((x * _STEPS >> _HALF) & 15), np.uint32((y * _STEPS >> _HALF) & 15)
                a, b, c, d = source[i, j], source[i, j + 1], source[i + 1, j], source[i + 1, j + 1]
                of_d = right * down  # weights, of 256 together
                of_b, of_c = right * np.uint32(16) - of_d, down * np.uint32(16) - of_d
                of_a = np.uint32(256) - of_b - of_c - of_d
                red_blue = (
                    (a & _RED_BLUE) * of_a + (b & _RED_BLUE) * of_b + (c & _RED_BLUE) * of_c + (d & _RED_BLUE) * of_d
                )
                green = (a & _GREEN) * of_a + (b & _GREEN) * of_b + (c & _GREEN) * of_c + (d & _GREEN) * of_d
                target[top + row, left + column] = (red_blue >> np.uint32(8) & _RED_BLUE) | (
                    green >> np.uint32(8) & _GREEN
                )
            else:
                target[top + row, left + column] = beyond[math.floor((x - zero) * stripes) & 1]
            x, y = x + along, y + across
