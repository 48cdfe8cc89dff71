"""The horizontal axes of learning curves: environment steps, and minutes of training."""

from typing import TYPE_CHECKING

from matplotlib.ticker import EngFormatter, MultipleLocator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS, MINUTES = "steps", "minutes"
AXES = (STEPS, MINUTES)


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
