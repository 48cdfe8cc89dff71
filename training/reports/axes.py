"""The axes of learning curves, over environment steps or over minutes of training, and what is worth an axis."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from matplotlib.ticker import EngFormatter, MultipleLocator

from training.drives.plots import GREY, clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS, MINUTES = "steps", "minutes"
AXES = (STEPS, MINUTES)
FENCE = 1.5  # interquartile ranges above the third quartile, beyond which a value is an outlier, by Tukey's rule
LEAST_GAIN = 2.0  # times that an axis must grow for values to be cut off
STILLNESS = 0.02  # largest difference between the values of a share that does not move


def label_axis(axes: "Axes", over: str) -> None:
    """Label a horizontal axis of steps or minutes, from 0 on; little time is shown in seconds."""
    axes.set_xlabel("environment steps" if over == STEPS else "minutes of training")
    if over == MINUTES and axes.get_xlim()[1] < 2.0:
        axes.set_xlabel("seconds of training")
        axes.xaxis.set_major_formatter(lambda minutes, _: f"{minutes * 60:g}")
        axes.xaxis.set_major_locator(MultipleLocator(max(round(axes.get_xlim()[1] * 60 / 6), 1) / 60))
    if over == STEPS:
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_xlim(left=0)


def finish_curves(axes: "Axes", title: str, is_share: bool, over: str) -> None:
    """Give learning curves that are drawn their title, legend and axes; a share's runs from 0 to 1."""
    if is_share:
        axes.set_ylim(-0.05, 1.05)
    axes.set_title(title, loc="left")
    axes.legend(frameon=False, fontsize=8)
    clean(axes)
    label_axis(axes, over)


def cut_off_slow_laps(axes: "Axes", curves: Sequence[npt.NDArray[np.float64]]) -> None:
    """End the vertical axis below laps as slow as those a run begins with, which would make a line of all others.

    Args:
        axes: Axes with finished curves.
        curves: Lap times of each curve, (n,) in s.
    """
    lowest, highest = min(map(np.min, curves)), max(map(np.max, curves))
    top = max(min(values.max(), _fence(values)) for values in curves)
    if highest - lowest > LEAST_GAIN * (top - lowest) > 0:
        margin = 0.05 * (top - lowest)
        axes.set_ylim(lowest - margin, top + margin)
        axes.set_title(f"slower laps, up to {highest:.1f} s, are cut off", loc="right", fontsize=8, color=GREY)


def _fence(values: npt.NDArray[np.float64]) -> float:
    low, high = np.quantile(values, (0.25, 0.75))
    return float(high + FENCE * (high - low))


def still_share(values: npt.NDArray[np.float64]) -> str | None:
    """Return a share (n,) that hardly moves in words, such as "98% to 100%"; None if it moves."""
    low, high = float(values.min()), float(values.max())
    return None if high - low > STILLNESS else " to ".join(dict.fromkeys((f"{low:.0%}", f"{high:.0%}")))
