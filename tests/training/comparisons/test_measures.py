"""What a run is compared by."""

import math

import pytest

from tests.training.comparisons.logs import evaluation
from training.comparisons.measures import (
    CLEAN_LAPS,
    LAP_TIME,
    MEASURES,
    OFF_ROAD,
    PACE,
    REVERSALS,
    SECONDS,
    STEPS,
    best_of,
    is_whole,
    number,
)
from training.sweeps.objective import OBJECTIVES

RUN = [
    evaluation(500, 80.0, 1),
    evaluation(1000, 100.0, steer_reversals_per_sec=2.0),
    evaluation(1500, 125.0, steer_reversals_per_sec=3.0, off_track_share=0.1),
    evaluation(2000, 200.0, 2),
]


def test_a_run_counts_by_its_best_model() -> None:
    """Clean laps go before pace, so the last evaluation is not it."""
    assert best_of(RUN)["steps"] == 1500
    values = {measure: measure.of(RUN) for measure in MEASURES}
    assert values == {
        PACE: 125.0,
        LAP_TIME: 8.0,
        CLEAN_LAPS: 1.0,
        STEPS: 1000.0,
        SECONDS: 1.0,
        REVERSALS: 3.0,
        OFF_ROAD: 0.1,
    }


def test_sweeps_judge_by_the_same_numbers() -> None:
    """So that the best of a sweep is the best here."""
    for name, measure in (("pace", PACE), ("lap-time", LAP_TIME), ("steps", STEPS), ("seconds", SECONDS)):
        assert measure.of(RUN) == OBJECTIVES[name].value_of(RUN)


def test_what_a_run_never_reached_is_the_worst() -> None:
    """Not left out, which would make a setting better that seldom gets there."""
    never = [evaluation(1000, None, 0)]
    assert [measure.of(never) for measure in (LAP_TIME, STEPS, SECONDS)] == [math.inf] * 3
    assert [measure.of(never) for measure in (PACE, CLEAN_LAPS)] == [0.0, 0.0]
    assert LAP_TIME.shown(math.inf) == "-"


@pytest.mark.parametrize("value", ["1", True, math.nan, math.inf, [1]])
@pytest.mark.parametrize("name", ["score", "success", "laps_asked", "best_lap_time_sec"])
def test_a_damaged_evaluation_is_not_whole(name: str, value: object) -> None:
    """Each of its figures is a number, as training writes it, or None where there were no laps."""
    assert is_whole(RUN[0])
    assert is_whole(evaluation(1000, None, 0))
    assert not is_whole({**RUN[0], "laps_asked": 0})
    damaged = [1.0, value, 1.0] if name == "score" else value
    assert not is_whole({**RUN[0], name: damaged})
    assert number({name: value}, name) is None
