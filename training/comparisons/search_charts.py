"""Charts of a search: the importance of hyper-parameters, and its trials in parallel coordinates."""

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution

from training.comparisons.search import Search, place_of
from training.drives.plots import DRIVERS, GREY, INK, as_text, clean, new_figure

MANY = 200  # trials from which their lines are thinner
MAX_TICKS = 6  # most values of a choice that are written at its axis
_GOODNESS = LinearSegmentedColormap.from_list("goodness", ["#c9d1de", "#8fa6cf", "#2563eb", "#be185d"])

FloatArray = npt.NDArray[np.float64]


def importances(search: Search) -> Figure | None:
    """Return a bar for each hyper-parameter, the most important first; None if importance is not known."""
    if search.importance is None:
        return None
    figure = new_figure(6.4, 1.0 + 0.34 * len(search.importance))
    axes = figure.add_subplot()
    names = [as_text(search.short(name)) for name in search.importance]
    bars = axes.barh(names, [*search.importance.values()], color=DRIVERS[1], height=0.6)
    axes.bar_label(bars, fmt="{:.0%}", padding=4, fontsize=8, color=GREY)
    axes.invert_yaxis()
    axes.set_xlim(0, max(search.importance.values()) * 1.15)
    axes.xaxis.set_major_formatter("{x:.0%}")
    axes.set_title("what sets the best quarter of the trials apart", loc="left")
    clean(axes)
    return figure


def parallel_coordinates(search: Search, title: str) -> Figure:
    """Return a line for each finished trial across an axis for each hyper-parameter, and one for its value.

    Args:
        search: The search.
        title: Title of the axis of values.
    """
    names = [*search.distributions]
    values = np.array(search.values)
    places = np.array(
        [[place_of(trial.params[name], search.distributions[name]) for name in names] for trial in search.trials]
    )
    goodness, low, high = _goodness(values, search.is_less_better)
    order = np.argsort(goodness)  # the best on top
    points = np.concatenate([places, goodness[:, None]], axis=1)[order]
    figure = new_figure(12.0, 4.2)
    axes = figure.add_subplot()
    across = np.broadcast_to(np.arange(len(names) + 1), points.shape)
    width, alpha = (1.2, 0.75) if len(points) <= MANY else (0.7, 0.4)
    lines = LineCollection(list(np.stack([across, points], axis=2)), cmap=_GOODNESS, linewidth=width, alpha=alpha)
    lines.set_array(goodness[order])
    lines.set_clim(0, 1)
    axes.add_collection(lines)
    axes.plot(points[-1], color=INK, linewidth=2.2)
    for index, name in enumerate(names):
        _draw_axis(axes, index, _ticks(search.distributions[name]))
    _draw_axis(axes, len(names), [(place, f"{low + (high - low) * place:.4g}") for place in (0.0, 0.5, 1.0)])
    axes.set_xlim(-0.3, len(names) + 0.5)
    axes.set_ylim(-0.06, 1.06)
    axes.set_yticks([])
    axes.set_xticks(range(len(names) + 1), [as_text(search.short(name)) for name in names] + [title], fontsize=8)
    clean(axes)
    axes.grid(visible=False)
    return figure


def _goodness(values: FloatArray, is_less_better: bool) -> tuple[FloatArray, float, float]:
    """Return where values lie between the worst (0) and the best (1), and both; what never got there lies at the worst.

    A few very bad trials would press all others together, so the worst tenth lies at the worst too.
    """
    finite = values[np.isfinite(values)] if np.isfinite(values).any() else np.zeros(1)
    best = float(finite.min() if is_less_better else finite.max())
    worst = float(np.quantile(finite, 0.9 if is_less_better else 0.1))
    if best == worst:
        return np.where(np.isfinite(values), 1.0, 0.0), worst, best
    return np.clip((np.where(np.isfinite(values), values, worst) - worst) / (best - worst), 0.0, 1.0), worst, best


def _ticks(distribution: BaseDistribution) -> list[tuple[float, str]]:
    """Return places along an axis with the values there."""
    if isinstance(distribution, CategoricalDistribution):
        choices = distribution.choices
        shown = range(0, len(choices), -(-len(choices) // MAX_TICKS))
        return [(place_of(choices[index], distribution), str(choices[index])) for index in shown]
    low, high = distribution.low, distribution.high  # type: ignore[attr-defined]
    if isinstance(distribution, IntDistribution):
        return [(0.0, str(low)), (1.0, str(high))]
    middle = float(np.sqrt(low * high)) if distribution.log else (low + high) / 2  # type: ignore[attr-defined]
    return [(place, f"{value:.3g}") for place, value in ((0.0, low), (0.5, middle), (1.0, high))]


def _draw_axis(axes: Any, x: float, ticks: list[tuple[float, str]]) -> None:
    axes.axvline(x, color=GREY, linewidth=0.8, zorder=3)
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.8}
    for place, text in ticks:
        axes.text(x + 0.03, place, as_text(text), fontsize=7.5, color=INK, va="center", bbox=box, zorder=4)
