"""Learning curves that are left out."""

from pathlib import Path

import pytest
from torch.utils.tensorboard import SummaryWriter

from training.reports.learning_curves import CHARTS, unmoved
from training.reports.run_log import RunLog

BY_TITLE = {chart.title.partition(":")[0]: chart for chart in CHARTS}


def log_of(folder: Path, **curves: list[float]) -> RunLog:
    """Return the log of a run with curves of evaluations, by name."""
    with SummaryWriter(str(folder)) as writer:
        for name, values in curves.items():
            for step, value in enumerate(values):
                writer.add_scalar(f"eval/{name}", value, step)
    return RunLog(folder)


@pytest.mark.parametrize(
    ("curves", "expected"),
    [
        ({"success": [1.0, 1.0]}, "evaluation 100%"),
        ({"success": [0.0, 0.0, 0.0]}, "evaluation 0%"),
        (
            {"success": [1.0, 1.0], "standing_start_success": [0.99, 0.98]},
            "evaluation 100%, from random places, at rest 98% to 99%",
        ),
        ({"success": [1.0, 1.0], "standing_start_success": [0.5, 1.0]}, None),
        ({"success": [0.0, 1.0]}, None),
        ({"completion": [1.0]}, None),
    ],
)
def test_a_share_that_never_moves_is_said_in_words(
    tmp_path: Path, curves: dict[str, list[float]], expected: str | None
) -> None:
    """Each of its curves, wherever they lie; if one of them moves, or there is none, the chart decides."""
    assert unmoved(log_of(tmp_path, **curves), BY_TITLE["success"], ["a"]) == expected


def test_other_figures_are_drawn_also_if_they_never_move(tmp_path: Path) -> None:
    """A pace has no full scale that it would lie at the end of."""
    log = log_of(tmp_path, pace_units_per_sec=[160.0, 160.0])
    assert unmoved(log, BY_TITLE["pace (length over lap time) in units/s"], ["a"]) is None
