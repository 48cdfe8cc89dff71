"""Charts of a comparison: intervals of its measures, and learning curves with their spread over seeds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from training.comparisons.comparison import Compared, Comparison
from training.comparisons.finding import FoundRun
from training.comparisons.measures import CLEAN_LAPS, LAP_TIME, PACE, STEPS, Figures, Measure, clean_share, number
from training.drives.plots import DRIVERS, GREY, as_text, clean, new_figure
from training.reports import axes as horizontal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FloatArray = npt.NDArray[np.float64]

MAX_DRAWN = len(DRIVERS)  # most settings with a learning curve, the best ones
MAX_BARS = 16  # most settings with an interval
_SHOWN = (PACE, LAP_TIME, CLEAN_LAPS, STEPS)
_POINTS = 200  # at most, along a learning curve


@dataclass(frozen=True)
class Chart:
    """A learning curve of settings.

    Attributes:
        title: Title, with its unit.
        of: The value of an evaluation; None if it has none.
        is_share: Whether the axis runs from 0 to 1.
        is_lap_time: Whether the slowest laps may be cut off.
    """

    title: str
    of: Callable[[Figures], float | None]
    is_share: bool = False
    is_lap_time: bool = False


CHARTS = (
    Chart("share of clean laps", clean_share, is_share=True),
    Chart("best lap time in s", lambda figures: number(figures, "best_lap_time_sec"), is_lap_time=True),
    Chart("pace (length over lap time) in units/s", lambda figures: number(figures, "pace_units_per_sec")),
    Chart("reward of an episode", lambda figures: number(figures, "mean_reward")),
)


def intervals(comparison: Comparison) -> Figure:
    """Return the interquartile means with their intervals, the medians and the seeds, for the best settings."""
    shown = comparison.settings[:MAX_BARS]
    figure = new_figure(12.0, 1.3 + 0.36 * len(shown))
    columns: Any = figure.subplots(1, len(_SHOWN), sharey=True, squeeze=False)
    for axes, measure in zip(columns[0], _SHOWN, strict=True):
        for row, each in enumerate(shown):
            _draw_interval(axes, row, each, measure)
        axes.set_title(measure.title, loc="left", fontsize=10)
        axes.xaxis.set_major_locator(MaxNLocator(4))
        if measure is CLEAN_LAPS:  # beyond 0% and 100% there is a margin for marks, and nothing else
            left, _ = axes.get_xlim()
            axes.set_xticks([tick for tick in axes.get_xticks() if max(left, 0.0) <= tick <= 1.0])
        axes.xaxis.set_major_formatter(lambda value, _, measure=measure: measure.shown(value))
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.set_yticks(range(len(shown)), [as_text(each.label) for each in shown])
        clean(axes)
    return figure


def learning_curve(settings: Sequence[Compared], chart: Chart, over: str) -> Figure | None:
    """Return a chart of settings: the median over the seeds as a line, and from the lowest to the highest as an area.

    Args:
        settings: Settings, of which the first ones are drawn.
        chart: The chart to draw.
        over: Horizontal axis, steps or minutes.

    Returns:
        The figure; None if no evaluation has a value.
    """
    figure = new_figure(6.4, 3.5)
    axes = figure.add_subplot()
    drawn: list[FloatArray] = []
    for colour, each in zip(DRIVERS, settings[:MAX_DRAWN], strict=False):
        curves = [curve for run in each.setting.runs if len((curve := _curve(run, chart, over))[0])]
        if curves:
            x, middle, low, high = _over_seeds(curves)
            marker = "o" if len(x) == 1 else ""
            axes.plot(x, middle, color=colour, linewidth=1.7, marker=marker, label=as_text(each.label))
            axes.fill_between(x, low, high, color=colour, alpha=0.16, linewidth=0)
            drawn += [low, high]
    if not drawn:
        return None
    horizontal.finish_curves(axes, chart.title, chart.is_share, over)
    if chart.is_lap_time:
        horizontal.cut_off_slow_laps(axes, drawn)
    return figure


def unmoved(settings: Sequence[Compared], chart: Chart) -> str | None:
    """Return a share in words if it is the same in all evaluations of the settings drawn; None if it is not."""
    values = [_curve(run, chart, horizontal.STEPS)[1] for each in settings[:MAX_DRAWN] for run in each.setting.runs]
    found = np.concatenate(values) if values else np.empty(0)
    return horizontal.still_share(found) if chart.is_share and len(found) else None


def _draw_interval(axes: "Axes", row: int, compared: Compared, measure: Measure) -> None:
    spread, colour = compared.of(measure), DRIVERS[row % len(DRIVERS)]
    finite = [value for value in spread.values if np.isfinite(value)]
    axes.plot(finite, [row] * len(finite), "o", color=colour, alpha=0.45, markersize=4, markeredgewidth=0)
    if spread.interval is not None and np.isfinite(spread.interval).all():
        axes.plot(spread.interval, [row, row], color=colour, linewidth=8, alpha=0.3, solid_capstyle="butt")
    for value, line in ((spread.middle, "-"), (spread.median, ":")):
        if np.isfinite(value):
            axes.plot([value, value], [row - 0.28, row + 0.28], line, color=colour, linewidth=2)
    if len(finite) < len(spread.values):
        words = f"never in {len(spread.values) - len(finite)} of {len(spread.values)}"
        axes.text(1.0, row, words, transform=axes.get_yaxis_transform(), ha="right", fontsize=7, color=GREY)


def _curve(run: FoundRun, chart: Chart, over: str) -> tuple[FloatArray, FloatArray]:
    """Return where a run was evaluated on the horizontal axis, and the values there, both (n,)."""
    rows = [
        (float(figures["steps"]) if over == horizontal.STEPS else float(figures["seconds"]) / 60, value)
        for figures in run.evaluations
        if (value := chart.of(figures)) is not None
    ]
    table = np.array(rows, np.float64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _over_seeds(
    curves: Sequence[tuple[FloatArray, FloatArray]],
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return a grid (n,) with median, lowest and highest value (n,) there, where most seeds have one."""
    grid = np.unique(np.concatenate([x for x, _ in curves]))
    if len(grid) > _POINTS:
        grid = np.linspace(grid[0], grid[-1], _POINTS)
    rows = np.array([np.interp(grid, x, y, left=np.nan, right=np.nan) for x, y in curves])
    known = 2 * (~np.isnan(rows)).sum(axis=0) > len(curves)  # of a minority, the median would be another one
    grid, rows = grid[known], rows[:, known]
    return grid, np.nanmedian(rows, axis=0), np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)
