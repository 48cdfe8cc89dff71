"""How smoothly a driver steers, on crafted drives."""

import math

import pytest

from training.evaluation.smoothness import Reversals, SignChanges, Stalls, SteeringMeter


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ([0.5, -0.5, 0.5, -0.5], 3),
        ([0.04, -0.04, 0.04], 0),
        ([0.5, -0.04, 0.5], 0),
        ([0.5, 0.0, 0.0, -0.06], 1),
        ([0.0, 0.3, 0.0, 0.3], 0),
        ([], 0),
    ],
)
def test_sign_changes_have_a_hysteresis(values: list[float], count: int) -> None:
    """What does not leave the middle by 0.05 has not changed sides."""
    meter = SignChanges()
    for value in values:
        meter.see(value)
    assert meter.count == count


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ([0.0, 0.2, 0.4, 0.2, 0.0, 0.3], 2),
        ([0.0, 0.2, 0.16, 0.4, 0.36, 0.6], 0),
        ([0.5, 0.5, 0.5], 0),
        ([0.0, 0.04, 0.08, 0.12, 0.08, 0.04, 0.0], 1),
        ([0.0, -0.1, 0.1, -0.1], 2),
        ([], 0),
    ],
)
def test_reversals_have_a_hysteresis(values: list[float], count: int) -> None:
    """What turns back by less than 0.05 has not turned; a slow turn counts as a quick one does."""
    meter = Reversals()
    for value in values:
        meter.see(value)
    assert meter.count == count


def drive(meter: Stalls, shares: list[float]) -> int:
    """Let a car be at some shares of a track, tick after tick."""
    for share in shares:
        meter.see(share % 1.0)
    return meter.count


def test_a_stall_is_counted_once() -> None:
    """Less than 3 units in 3 seconds, for however long; and again after it got on."""
    stands = [0.3] * 400
    moves = [0.3 + 0.001 * tick for tick in range(200)]
    assert drive(Stalls(1000.0, 60), stands) == 1
    assert drive(Stalls(1000.0, 60), stands[:170]) == 0
    assert drive(Stalls(1000.0, 60), moves) == 0
    assert drive(Stalls(1000.0, 60), stands + moves + [0.499] * 300) == 2


def test_crossing_the_line_is_no_stall() -> None:
    """The share falls from 1 to 0, and the car has moved on; to and fro is standing still."""
    assert drive(Stalls(1000.0, 60), [0.9 + 0.001 * tick for tick in range(400)]) == 0
    assert drive(Stalls(1000.0, 60), [0.5 + 0.001 * math.sin(tick) for tick in range(200)]) == 1


def test_a_meter_counts_everything_of_a_drive() -> None:
    """Commands beyond the limits are what the game makes of them."""
    meter = SteeringMeter()
    for command, wheel in ((3.0, 0.1), (1.0, 0.2), (-1.0, 0.0), (0.0, -0.1)):
        meter.see(command, wheel)
    assert meter.total_change == pytest.approx(0 + 2 + 1)
    assert (meter.command.count, meter.wheel.count, meter.reversals.count) == (1, 1, 1)
