"""Grain on the ground, so that one feels speed, as on the page: specks in cells that repeat, and mown stripes."""

import math

import numpy as np
import pygame

from racer_env.rendering import style

CELL = 96.0  # units
SPECKS = 24  # of each colour in a cell
SPECK_SIZES = (0.4, 1.1)  # units
DARK_OPACITY, LIGHT_OPACITY = 0.16, 0.12
FINEST = 1.6  # pixels per unit, below which specks are too small to be seen
STRIPE = 16.0  # units
STRIPE_OPACITY = 0.05

_SPECKS = np.random.default_rng(7).random((SPECKS, 2, 4))  # the same ones on every visit; the first of a pair is dark


def mown(ground: style.Colour) -> style.Colour:
    """Return the colour of a stripe on ground of that colour."""
    return style.mixed(ground, (255, 255, 255), STRIPE_OPACITY)


def lawn(size: tuple[int, int], x: float, scale: float, ground: style.Colour) -> pygame.Surface:
    """Return ground with stripes from south to north, which stay where they are in the world.

    Args:
        size: Width and height in pixels.
        x: The world's x at its left, in units; north is up.
        scale: Pixels per unit.
        ground: Colour between the stripes.
    """
    surface, (width, height) = pygame.Surface(size, depth=32), size
    surface.fill(ground)
    for stripe in range(math.floor(x / (2 * STRIPE)), math.ceil((x + width / scale) / (2 * STRIPE))):
        begin, end = (round((place * STRIPE - x) * scale) for place in (2 * stripe, 2 * stripe + 1))
        surface.fill(mown(ground), (begin, 0, end - begin, height))
    return surface


def draw_specks(surface: pygame.Surface, x: float, y: float, scale: float) -> None:
    """Make specks all over a surface a little darker or lighter.

    Args:
        surface: What is drawn on.
        x, y: The world's place at its left top corner, in units; north is up.
        scale: Pixels per unit.
    """
    width, height = surface.get_size()
    least, most = SPECK_SIZES
    sizes = np.maximum(1, np.round((least + (most - least) * _SPECKS[..., 2:]) * scale)).astype(int).tolist()
    for column in range(math.floor(x / CELL), math.ceil((x + width / scale) / CELL)):
        for row in range(math.floor(-y / CELL), math.ceil((height / scale - y) / CELL)):
            corners = np.round((np.array([column, row]) + _SPECKS[..., :2]) * (CELL * scale) - (x * scale, -y * scale))
            for (dark, light), (dark_size, light_size) in zip(corners.astype(int).tolist(), sizes, strict=True):
                surface.fill([round(255 * (1 - DARK_OPACITY))] * 3, (*dark, *dark_size), pygame.BLEND_RGB_MULT)
                surface.fill([round(255 * (1 - LIGHT_OPACITY))] * 3, (*light, *light_size), pygame.BLEND_RGB_MULT)
                surface.fill([round(255 * LIGHT_OPACITY)] * 3, (*light, *light_size), pygame.BLEND_RGB_ADD)
