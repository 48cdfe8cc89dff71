"""Steps that follow each other, and those that do not."""

import pytest

from racer_env.bridge.messages import StepResults, parse_step_many
from racer_env.bridge.step_counts import StepCounts
from racer_env.errors import BridgeProtocolError
from tests.racer_env.bridge.test_messages import END_ROW, FINISHED_ROW, STEP_ROW, doubles

COUNT = len(STEP_ROW) - 3  # column of stepCount


def step(first: int, second: int, second_ends: bool = False) -> StepResults:
    """Return a step of two cars with these counts."""
    rows = [list(STEP_ROW), list(FINISHED_ROW if second_ends else STEP_ROW)]
    rows[0][COUNT], rows[1][COUNT] = first, second
    return parse_step_many(doubles([*rows[0], *rows[1], *(END_ROW if second_ends else [])]), 2)


def test_many_cars_count_each_for_itself() -> None:
    """A car whose episode has ended counts anew; skipped counts are the game's business."""
    counts = StepCounts()
    for result in (step(1, 8), step(2, 9, second_ends=True), step(5, 1), step(6, 2)):
        assert counts.checked_many(result) is result
    counts.begin()
    counts.checked_many(step(1, 1))


@pytest.mark.parametrize(
    ("counts", "match"), [((7, 9), "of car 0 .* got 7 after 7"), ((8, 7), "of car 1 .* 7 after 8")]
)
def test_many_cars_must_all_go_on(counts: tuple[int, int], match: str) -> None:
    """The car is named."""
    seen = StepCounts()
    seen.checked_many(step(7, 8))
    with pytest.raises(BridgeProtocolError, match=match):
        seen.checked_many(step(*counts))
