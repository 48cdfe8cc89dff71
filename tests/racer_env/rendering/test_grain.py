"""Grain on the ground: where stripes and specks are, and how much they change."""

import numpy as np
import pygame
import pytest

from racer_env.rendering.grain import CELL, STRIPE, draw_specks, lawn, mown

GROUND = (40, 60, 44)


def test_stripes_lie_still_in_the_world() -> None:
    """From x = 0 to the width of one, and so on every second, wherever the picture begins."""
    x, scale = -21.0, 2.0
    pixels = pygame.surfarray.array3d(lawn((280, 10), x, scale, GROUND))
    places = x + (np.arange(280) + 0.5) / scale
    expected = np.where((places // STRIPE % 2 == 0)[:, None], mown(GROUND), GROUND)
    assert (pixels == expected[:, None]).all()


def test_a_stripe_is_a_little_lighter() -> None:
    """By a twentieth of the way to white."""
    assert mown(GROUND) == tuple(round(0.95 * part + 0.05 * 255) for part in GROUND)


def specks(x: float, y: float, scale: float, side: int) -> np.ndarray:
    """Return how much specks change a square of grey ground, (side, side)."""
    surface = pygame.Surface((side, side), depth=32)
    surface.fill((100, 100, 100))
    draw_specks(surface, x, y, scale)
    return pygame.surfarray.array3d(surface)[..., 0].astype(int) - 100


def test_specks_repeat_cell_by_cell() -> None:
    """So they lie still in the world, wherever the picture begins."""
    at_zero = specks(0.0, 0.0, 2.0, round(8 * CELL))
    cell = round(2 * CELL)
    assert np.array_equal(at_zero[cell : 2 * cell, cell : 2 * cell], at_zero[2 * cell : 3 * cell, 2 * cell : 3 * cell])
    assert np.array_equal(specks(126.0, -113.0, 2.0, 400)[9:, 9:], at_zero[261:, 235:][:391, :391])


@pytest.mark.parametrize("scale", [2.0, 7.0])
def test_specks_are_few_and_faint(scale: float) -> None:
    """Dark and light ones, on about a third of a percent of the ground; where two meet, at most both count."""
    change = specks(0.0, 0.0, scale, round(CELL * scale))
    for sign, most in ((1, 155 * 0.12), (-1, 100 * 0.16)):
        changed = change[sign * change > 0]
        assert 0.001 < changed.size / change.size < 0.004
        assert np.abs(changed).max() == pytest.approx(most, abs=2.0)
