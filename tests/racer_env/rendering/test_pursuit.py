"""How a camera follows a car with its heading up."""

import math

import pytest

from racer_env.rendering.pursuit import FAR, NEAR, Pursuit


def test_a_camera_turns_a_little_late() -> None:
    """After a seventh of a second, all but 1/e of a turn is made, and in the end all of it."""
    pursuit = Pursuit(0.0)
    for _ in range(60):
        pursuit.see(0.5, 0.0)
    assert pursuit.heading == pytest.approx(0.5 - 0.5 * math.exp(-7), abs=1e-9)


def test_a_camera_turns_the_short_way() -> None:
    """Also where headings begin anew."""
    pursuit = Pursuit(math.pi - 0.1)
    pursuit.see(-math.pi + 0.1, 0.0)
    assert math.pi - 0.1 < pursuit.heading < math.pi


def test_a_fast_car_sees_more() -> None:
    """Little by little, up to the top speed."""
    pursuit, spans = Pursuit(0.0), []
    for _ in range(600):
        pursuit.see(0.0, 1.0)
        spans.append(pursuit.span)
    assert spans == sorted(spans)
    assert NEAR < spans[0] < NEAR + 5
    assert spans[-1] == pytest.approx(FAR, abs=0.1)


def test_at_a_start_it_is_where_the_car_is() -> None:
    """At once."""
    pursuit = Pursuit(0.0)
    pursuit.cut(2.0, 1.0)
    assert (pursuit.heading, pursuit.span) == (2.0, FAR)
