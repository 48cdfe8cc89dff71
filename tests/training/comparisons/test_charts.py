"""Charts of a comparison."""

from pathlib import Path

import numpy as np
import pytest

from tests.training.comparisons.logs import comparison_of, evaluation, write_run, write_setting
from training.comparisons.charts import CHARTS, MAX_BARS, MAX_DRAWN, intervals, learning_curve, unmoved
from training.reports.axes import MINUTES, STEPS

pytestmark = pytest.mark.timeout(60)

PACE, LAP_TIME = (next(chart for chart in CHARTS if chart.title.startswith(word)) for word in ("pace", "best lap time"))


def test_a_learning_curve_has_the_spread_over_seeds(tmp_path: Path) -> None:
    """The median as a line; from the lowest to the highest seed as an area."""
    for seed, (early, late) in enumerate(((10, 100), (20, 120), (60, 110))):
        write_run(tmp_path, f"r{seed}", seed, [evaluation(500, early), evaluation(1000, late)])
    figure = learning_curve(comparison_of(tmp_path).settings, PACE, STEPS)
    assert figure is not None
    (line,), (area,) = figure.axes[0].lines, figure.axes[0].collections
    assert np.array(line.get_xydata()).tolist() == [[500, 20], [1000, 110]]
    corners = area.get_paths()[0].vertices
    for x, low, high in ((500, 10, 60), (1000, 100, 120)):
        heights = corners[corners[:, 0] == x][:, 1]
        assert (heights.min(), heights.max()) == (low, high)


def test_seeds_that_were_evaluated_at_other_steps_are_drawn_between_theirs(tmp_path: Path) -> None:
    """And where most of them have no value, there is no line."""
    write_run(tmp_path, "a", 0, [evaluation(0, 0.001), evaluation(1000, 100.0)])
    write_run(tmp_path, "b", 1, [evaluation(500, 100.0), evaluation(2000, 100.0)])
    figure = learning_curve(comparison_of(tmp_path).settings, PACE, STEPS)
    assert figure is not None
    points = np.array(figure.axes[0].lines[0].get_xydata())
    assert points == pytest.approx(np.array([[500, 75], [1000, 100]]), abs=0.1)


def test_a_figure_that_nobody_has_no_chart(tmp_path: Path) -> None:
    """As the lap time of runs that never lap."""
    write_setting(tmp_path, "a", [None])
    assert learning_curve(comparison_of(tmp_path).settings, PACE, MINUTES) is None


def test_a_share_that_is_the_same_everywhere_has_no_chart(tmp_path: Path) -> None:
    """Of all seeds and settings; where one of them differs, or falls, it is worth one. A pace always is."""
    clean = next(chart for chart in CHARTS if chart.is_share)
    for seed in (0, 1):
        write_run(tmp_path, f"a{seed}", seed, [evaluation(500, 90), evaluation(1000, 100)])
    assert unmoved(comparison_of(tmp_path).settings, clean) == "100%"
    assert unmoved(comparison_of(tmp_path).settings, PACE) is None
    write_run(tmp_path, "b", 0, [evaluation(500, 10, clean=0)], hyperparameters={"gamma": 0.5})
    assert unmoved(comparison_of(tmp_path).settings, clean) is None


def test_only_the_best_settings_are_drawn(tmp_path: Path) -> None:
    """As many as there are colours; intervals of some more."""
    for index in range(MAX_BARS + 2):
        write_setting(tmp_path, f"r{index:02}", [100.0 + index], hyperparameters={"gamma": index / 100})
    comparison = comparison_of(tmp_path)
    figure = learning_curve(comparison.settings, PACE, STEPS)
    assert figure is not None
    assert [line.get_label() for line in figure.axes[0].lines] == [
        each.label for each in comparison.settings[:MAX_DRAWN]
    ]
    labels = [text.get_text() for text in intervals(comparison).axes[0].get_yticklabels()]
    assert labels == [each.label for each in comparison.settings[:MAX_BARS]]


def test_seeds_that_never_got_there_are_counted_at_the_interval(tmp_path: Path) -> None:
    """As they lie outside of any axis."""
    write_setting(tmp_path, "a", [100.0, None, None])
    texts = [text.get_text() for axes in intervals(comparison_of(tmp_path)).axes for text in axes.texts]
    assert texts == ["never in 2 of 3"] * 2


def test_slow_laps_of_the_beginning_are_cut_off(tmp_path: Path) -> None:
    """From the slowest of the seeds to the fastest, the others are seen."""
    for seed in (0, 1):
        paces = (20 - seed, *(pace + 40 * seed for pace in (140, 142, 144, 146, 148, 150)))
        write_run(tmp_path, f"r{seed}", seed, [evaluation(step, pace) for step, pace in enumerate(paces)])
    figure = learning_curve(comparison_of(tmp_path).settings, LAP_TIME, STEPS)
    assert figure is not None
    low, high = figure.axes[0].get_ylim()
    assert low < 1000 / 190
    assert 1000 / 140 < high < 1000 / 20
    assert figure.axes[0].get_title("right") == "slower laps, up to 52.6 s, are cut off"


@pytest.mark.parametrize("clean", [(3, 3, 3), (3, 3, 2), (0, 0, 0), (0, 3, 1)])
def test_shares_of_clean_laps_end_at_all(tmp_path: Path, clean: tuple[int, ...]) -> None:
    """No tick is below 0% or beyond 100%, and a mark at the end is not cut in half."""
    for seed, laps in enumerate(clean):
        write_run(tmp_path, f"r{seed}", seed, [evaluation(500, 100, laps)])
    figure = intervals(comparison_of(tmp_path))
    figure.draw_without_rendering()
    axes = next(axes for axes in figure.axes if axes.get_title("left") == "clean laps")
    (low, high), ticks = axes.get_xlim(), axes.get_xticks()
    assert low < min(clean) / 3 <= max(clean) / 3 < high
    assert len(ticks) > 1
    assert 0.0 <= min(ticks) <= max(ticks) <= 1.0
