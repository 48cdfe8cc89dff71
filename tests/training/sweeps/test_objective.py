"""What runs are judged by."""

import math

import pytest

from tests.training.sweeps.pretending import line
from training.sweeps.objective import OBJECTIVES

PACE, LAP_TIME, STEPS, SECONDS = (OBJECTIVES[name] for name in ("pace", "lap-time", "steps", "seconds"))


def test_the_best_model_is_judged_and_not_the_last() -> None:
    """As it is the one that is kept."""
    lines = [line(1000, 50.0, lap=7.0), line(2000, 60.0, lap=6.5), line(3000, 40.0, lap=6.0)]
    assert LAP_TIME.value_of(lines) == 6.5
    assert PACE.value_of(lines) == 60.0


def test_a_faster_model_with_fewer_clean_laps_is_not_the_best() -> None:
    """Nor has it a lap time where it is."""
    assert LAP_TIME.value_of([line(1000, 50.0, lap=7.0), line(2000, 90.0, clean=2, lap=5.0)]) == 7.0
    assert LAP_TIME.value_of([line(2000, 90.0, clean=2, lap=5.0)]) is None


def test_laps_that_are_not_clean_take_their_share_of_the_pace_off() -> None:
    """And so do random starts that fail."""
    assert PACE.value_of([line(1000, 60.0, clean=2)]) == pytest.approx(40.0)
    starts = {"moving_start_success": 0.5, "standing_start_success": None}
    assert PACE.value_of([line(1000, 60.0, **starts)]) == pytest.approx(45.0)


def test_the_lap_time_on_several_tracks_is_the_mean() -> None:
    """The best one would be of the shortest track alone."""
    assert LAP_TIME.value_of([line(1000, lap=7.0, episodes=2)]) == 8.0


def test_the_first_evaluation_with_all_laps_clean_counts_for_steps_and_seconds() -> None:
    """Whatever comes later."""
    lines = [line(1000, clean=2), line(2000), line(3000, 99.0)]
    assert STEPS.value_of(lines) == 2000
    assert SECONDS.value_of(lines) == 2.0


@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=[*OBJECTIVES])
def test_a_run_without_clean_laps_has_no_value(objective) -> None:  # type: ignore[no-untyped-def]
    """Nor has one without evaluations, or with lines of something else."""
    for lines in ([line(1000, clean=0)], [], [{"steps": 1, "seconds": 1.0}]):
        assert objective.value_of(lines) is None


@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=[*OBJECTIVES])
def test_a_run_without_a_value_is_the_worst(objective) -> None:  # type: ignore[no-untyped-def]
    """In the median, and for Optuna, which is told finite numbers only."""
    good, bad = (10.0, 20.0) if objective.is_less_better else (20.0, 10.0)
    assert objective.median([good, None, bad]) == bad
    assert objective.median([good, None, None]) is None
    assert objective.rank(good) < objective.rank(bad) < objective.rank(None)
    assert math.isfinite(objective.told(None))
    assert objective.in_words(None) == "no clean laps"


def test_the_luckiest_seed_decides_nothing() -> None:
    """The median does."""
    assert LAP_TIME.median([5.0, 7.0, 7.1]) == 7.0
