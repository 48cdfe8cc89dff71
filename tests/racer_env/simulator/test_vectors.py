"""Blocks of points against plain loops over the same points."""

import numpy as np
import pytest
from numba import njit

from racer_env.simulator.table_kernels import BLOCK, SAFETY
from racer_env.simulator.vectors import crossed, lowest, nearest_point, reached
from tests.helpers import FloatArray

RANDOM = np.random.default_rng(3)
X, Y = RANDOM.uniform(-100.0, 100.0, (2, 3 * BLOCK))
PLACES = [(begin, *RANDOM.uniform(-100.0, 100.0, 2)) for begin in range(2 * BLOCK - 1)]


@njit  # in one function, as each takes a quarter of a second to compile
def ask(x, y, begin, px, py, dx, dy, reach):  # type: ignore[no-untyped-def]
    """Return all answers about a block of segments or points."""
    near, place = nearest_point(x, y, begin, px, py)
    return crossed(x, y, begin, px, py, dx, dy), reached(x, y, begin, px, py, reach * reach), near, place, lowest(begin)


@pytest.mark.parametrize("angle", [0.1, 1.9, 4.0])
def test_crossed_are_the_segments_with_an_end_on_either_side(angle: float) -> None:
    """Whatever the line."""
    dx, dy = np.cos(angle), np.sin(angle)
    for begin, px, py in PLACES:
        side = (X - px) * dy - (Y - py) * dx
        expected = sum(1 << i for i in range(BLOCK) if side[begin + i] * side[begin + i + 1] <= SAFETY)
        assert ask(X, Y, begin, px, py, dx, dy, 1.0)[0] == expected


def test_segments_that_the_line_only_touches_are_crossed() -> None:
    """Where a point is on the line but for rounding, both segments that meet there are."""
    for index in range(1, BLOCK):
        crossed_bits = ask(X, Y, 0, 0.0, 0.0, X[index] / 7.0, Y[index] / 7.0, 1.0)[0]
        assert crossed_bits >> (index - 1) & 0b11 == 0b11


def distances_to_segments(px: float, py: float, begin: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the distances of a point from a block's lines and segments, and the segments' lengths."""
    ax, ay = X[begin : begin + BLOCK], Y[begin : begin + BLOCK]
    ex, ey = np.diff(X)[begin : begin + BLOCK], np.diff(Y)[begin : begin + BLOCK]
    length = np.hypot(ex, ey)
    along = np.clip(((px - ax) * ex + (py - ay) * ey) / length**2, 0.0, 1.0)
    from_line = np.abs((px - ax) * ey - (py - ay) * ex) / length
    return from_line, np.hypot(px - ax - along * ex, py - ay - along * ey), length


@pytest.mark.parametrize("reach", [4.0, 20.0, 60.0])
def test_segments_within_reach_are_reached(reach: float) -> None:
    """All of them."""
    for begin, px, py in PLACES:
        bits = ask(X, Y, begin, px, py, 1.0, 0.0, reach)[1]
        _, distance, _ = distances_to_segments(px, py, begin)
        assert all(bits >> i & 1 for i in np.flatnonzero(distance <= reach))


@pytest.mark.parametrize("reach", [4.0, 20.0, 60.0])
def test_segments_far_away_are_not_reached(reach: float) -> None:
    """Neither those whose line is, nor those that are far along it."""
    for begin, px, py in PLACES:
        bits = ask(X, Y, begin, px, py, 1.0, 0.0, reach)[1]
        from_line, distance, length = distances_to_segments(px, py, begin)
        is_far = (from_line > reach) | (distance > np.hypot(reach, length / 2 + reach**2 / (2 * length)))
        assert not any(bits >> i & 1 for i in np.flatnonzero(is_far))


def test_segments_without_length_are_reached() -> None:
    """They have no line, so it is for the caller to look at them."""
    zeros = np.zeros(BLOCK + 1)
    assert ask(zeros, zeros, 0, 50.0, 50.0, 1.0, 0.0, 1.0)[1] == (1 << BLOCK) - 1


def test_nearest_point_is_that_of_a_loop() -> None:
    """Bit for bit."""
    for begin, px, py in PLACES:
        squared = ((X - px) * (X - px) + (Y - py) * (Y - py))[begin : begin + BLOCK]
        place = int(squared.argmin())
        assert ask(X, Y, begin, px, py, 1.0, 0.0, 1.0)[2:4] == (squared[place], place)


def test_first_of_equally_near_points_is_the_nearest() -> None:
    """As in a loop that looks for a lesser distance."""
    x, y = np.full(BLOCK + 1, 9.0), np.zeros(BLOCK + 1)
    x[[5, 11]] = 2.0
    assert ask(x, y, 0, 0.0, 0.0, 1.0, 0.0, 1.0)[2:4] == (4.0, 5)


def test_points_past_the_end_of_a_table_are_never_the_nearest() -> None:
    """They are infinite."""
    x, y = np.full(BLOCK + 1, np.inf), np.full(BLOCK + 1, np.inf)
    x[0], y[0] = 1e6, 1e6
    assert ask(x, y, 0, 0.0, 0.0, 1.0, 0.0, 1.0)[2:4] == (2e12, 0)


@pytest.mark.parametrize(("bits", "place"), [(1, 0), (0b1010, 1), (1 << BLOCK, BLOCK)])
def test_lowest_is_the_place_of_the_lowest_bit(bits: int, place: int) -> None:
    """Counted from 0."""
    many = np.zeros(bits + BLOCK + 1)
    assert ask(many, many, bits, 0.0, 0.0, 1.0, 0.0, 1.0)[4] == place
