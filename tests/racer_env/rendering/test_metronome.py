"""The beat of frames by the wall clock."""

import pytest

from racer_env.rendering.metronome import MAX_DUE
from tests.helpers import FakeClock


def test_it_beats_as_often_as_asked() -> None:
    """Exactly on average, also where a sleep is too long or too short."""
    clock = FakeClock()
    metronome = clock.metronome()
    for index in range(600):
        assert metronome.wait(60.0) == 1
        clock.time += 0.004 * (index % 3 - 1)
    assert clock.time == pytest.approx(10.0, abs=0.02)
    assert metronome.pace == pytest.approx(1.0, abs=0.01)


def test_late_frames_are_made_up_for() -> None:
    """All at once if the caller can, one by one otherwise; not more than a bound."""
    clock = FakeClock()
    metronome = clock.metronome()
    metronome.wait(60.0)
    clock.time += 3.0 / 60
    assert metronome.wait(60.0) == 3
    clock.time += 3.0 / 60
    before = clock.time
    assert [metronome.wait(60.0, most=1) for _ in range(3)] == [1, 1, 1]
    assert clock.time == pytest.approx(before, abs=1e-9)
    clock.time += 100.0
    assert metronome.wait(60.0) == MAX_DUE


def test_it_knows_when_it_cannot_keep_up() -> None:
    """A frame that takes a quarter of a second makes up for ten at most: two thirds of real time."""
    clock = FakeClock()
    metronome = clock.metronome()
    for _ in range(20):
        clock.time += 0.25
        metronome.wait(60.0)
    assert metronome.pace == pytest.approx(MAX_DUE / 15, abs=0.01)
