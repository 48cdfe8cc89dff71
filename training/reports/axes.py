"""The axes of learning curves, over environment steps or over minutes of training, and what is worth an axis."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from matplotlib.ticker import EngFormatter, MultipleLocator

from training.drives.plots import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS, MINUTES = "steps", "minutes"
AXES = (STEPS, MINUTES)
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


def still_share(values: npt.NDArray[np.float64]) -> str | None:
    """Return a share (n,) that hardly moves in words, such as "98% to 100%"; None if it moves."""
    low, high = float(values.min()), float(values.max())
    return None if high - low > STILLNESS else " to ".join(dict.fromkeys((f"{low:.0%}", f"{high:.0%}")))
