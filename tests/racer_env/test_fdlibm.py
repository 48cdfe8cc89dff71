"""Sine and its like, against those of the Node.js that is here; ``tests.node_functions`` compares far more of them."""

import math

import numpy as np
import pytest

from racer_env import fdlibm
from tests.node_functions import FUNCTIONS, arguments, differing, evaluate

COUNT = 20_000  # of each function


@pytest.mark.integration
@pytest.mark.parametrize("function", range(len(FUNCTIONS)), ids=FUNCTIONS)
def test_values_are_those_of_node(function: int) -> None:
    """Every bit is the one that the game's engine computes with."""
    pairs = arguments(function, COUNT, np.random.default_rng(function))
    values = evaluate.py_func(function, pairs)
    wrong = differing(function, values, pairs)
    assert len(wrong) == 0, f"{len(wrong)} differ, first {FUNCTIONS[function]} of {pairs[wrong[0]].tolist()!r}"


@pytest.mark.parametrize(
    ("y", "x", "angle"),
    [(0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (0.0, -1.0, math.pi), (-0.0, -1.0, -math.pi), (2.0, 0.0, math.pi / 2)],
)
def test_direction_along_an_axis(y: float, x: float, angle: float) -> None:
    """The sign of a zero counts."""
    assert (fdlibm.atan2(y, x), math.copysign(1.0, fdlibm.atan2(y, x))) == (angle, math.copysign(1.0, angle))


@pytest.mark.parametrize("angle", [823_549.7, 1e6, -1_000_003.25])
def test_largest_headings(angle: float) -> None:
    """A start's heading may be up to a million radians away."""
    assert fdlibm.sin_cos(angle) == pytest.approx((math.sin(angle), math.cos(angle)), rel=0, abs=2e-16)
