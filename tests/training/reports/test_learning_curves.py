"""Learning curves that are left out."""

from pathlib import Path

import pytest
from torch.utils.tensorboard import SummaryWriter

from training.reports.axes import STEPS
from training.reports.learning_curves import CHARTS, learning_curve, unmoved
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


def test_slow_laps_of_the_beginning_are_cut_off(tmp_path: Path) -> None:
    """Which is said, so that the later ones are no flat line."""
    times = {"mean_lap_time_sec": [30.0, 7.9, 7.8, 7.7, 7.6, 7.5, 7.4], "best_lap_time_sec": [7.3, 7.2, 7.1, 7.0]}
    figure = learning_curve(log_of(tmp_path, **times), BY_TITLE["lap time in s"], STEPS, [], ["a"])
    assert figure is not None
    low, high = figure.axes[0].get_ylim()
    assert low < 7.0
    assert 7.9 < high < 9.0
    assert figure.axes[0].get_title("right") == "slower laps, up to 30.0 s, are cut off"


@pytest.mark.parametrize("times", [[9.0, 8.5, 8.0, 7.5, 7.4, 7.3], [30.0], [30.0, 7.0], [7.0, 7.0, 7.0, 7.0, 7.0]])
def test_lap_times_that_can_all_be_seen_are_shown(tmp_path: Path, times: list[float]) -> None:
    """Also where they are few, or all the same."""
    log = log_of(tmp_path, mean_lap_time_sec=times)
    figure = learning_curve(log, BY_TITLE["lap time in s"], STEPS, [], ["a"])
    assert figure is not None
    low, high = figure.axes[0].get_ylim()
    assert low < min(times) <= max(times) < high
    assert figure.axes[0].get_title("right") == ""
