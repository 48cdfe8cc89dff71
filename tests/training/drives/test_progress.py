"""How far cars have come, and the time between two of them."""

import pytest

from training.drives.progress import Progress, gap_ticks

LENGTH = 1000.0  # units


def driven(speed: float, ticks: int, start: float = 0.0) -> Progress:
    """Return the progress of a car that drives so many units on each tick."""
    progress = Progress(LENGTH, start)
    for tick in range(1, ticks + 1):
        progress.see((start + speed * tick) % LENGTH)
    return progress


def test_laps_add_up() -> None:
    """Across the line, and backwards; a start in the last half of a lap is before the line."""
    assert driven(10.0, 250).distance == pytest.approx(2500.0)
    assert driven(-3.0, 10).distance == pytest.approx(-30.0)
    assert driven(10.0, 5, start=980.0).distance == pytest.approx(30.0)


def test_the_gap_is_the_time_between_two_cars_at_one_place() -> None:
    """Positive for the one behind, negative for the other, within what a cell of the road takes."""
    quick, slow = driven(10.0, 250), driven(8.0, 250)
    assert gap_ticks(slow, quick) == pytest.approx(50, abs=1)  # 2,000 units took the quick one 200 ticks
    assert gap_ticks(quick, slow) == pytest.approx(-50, abs=1)
    assert gap_ticks(quick, quick) == pytest.approx(0, abs=1)


def test_no_gap_is_known_before_the_start() -> None:
    """Where one car has not been, the other one's time there tells nothing."""
    behind = driven(1.0, 2, start=900.0)
    assert gap_ticks(behind, driven(10.0, 20)) is None
    assert gap_ticks(driven(10.0, 20), behind) is None


def test_a_lost_lap_is_driven_again() -> None:
    """The car falls back by a lap, whatever way it is put back to the road, and by no more if that happens again."""
    progress = driven(10.0, 250)
    for _ in range(2):
        progress.lose_lap(502.0, 2)
        assert progress.distance == pytest.approx(1502.0)
    assert gap_ticks(progress, driven(10.0, 250)) == pytest.approx(100, abs=1)


def test_when_a_car_was_where_on_a_lost_lap_is_forgotten() -> None:
    """So that the gap of one behind counts from the lap that is driven instead."""
    progress = driven(10.0, 90)
    progress.lose_lap(900.0, 0)
    for tick in range(1, 61):
        progress.see((900.0 + 10.0 * tick) % LENGTH)
    assert progress.distance == pytest.approx(500.0)
    slow = driven(2.0, 150)
    assert gap_ticks(slow, progress) == pytest.approx(150 - (90 + 10 + 30), abs=1)  # 10 ticks to the line, 30 to 300
