"""Plots of a run's course: figures over environment steps and over minutes of training."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from training.drives.plots import DRIVERS, GREY, clean, new_figure
from training.reports.axes import STEPS, cut_off_slow_laps, finish_curves, label_axis, still_share
from training.reports.run_log import Curve, RunLog

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_TRACKS = 8  # most tracks with a curve of their own

_TRAINING, _EVALUATION, _OTHERS = "#a9b3c4", DRIVERS[1], (DRIVERS[0], DRIVERS[2])


@dataclass(frozen=True)
class Mark:
    """A saved model.

    Attributes:
        steps: Environment steps it was trained for.
        label: Kind of model, if more than a checkpoint; else empty.
    """

    steps: int
    label: str = ""


@dataclass(frozen=True)
class Chart:
    """A learning curve: the same figure in training and in evaluations.

    Attributes:
        title: Display title, with its unit.
        evaluation: Tag of the figure in evaluations.
        training: Tag of the figure in training, or None.
        others: Further tags of evaluations, with their labels.
        is_share: Whether the axis runs from 0 to 1.
        is_lap_time: Whether it means little over several tracks together, and is then drawn by track; the
            slowest laps may be cut off.
    """

    title: str
    evaluation: str
    training: str | None = None
    others: tuple[tuple[str, str], ...] = ()
    is_share: bool = False
    is_lap_time: bool = False


CHARTS = (
    Chart("reward of an episode", "eval/mean_reward", "rollout/ep_rew_mean"),
    Chart("completion rate", "eval/completion", "racer/completion_rate", is_share=True),
    Chart(
        "lap time in s",
        "eval/mean_lap_time_sec",
        "racer/mean_lap_time_sec",
        (("eval/best_lap_time_sec", "evaluation, best lap"),),
        is_lap_time=True,
    ),
    Chart(
        "success: all laps, no wall, no stall",
        "eval/success",
        None,
        (
            ("eval/moving_start_success", "from random places, on the move"),
            ("eval/standing_start_success", "from random places, at rest"),
        ),
        is_share=True,
    ),
    Chart("pace (length over lap time) in units/s", "eval/pace_units_per_sec"),
    Chart("share of the time off the road", "eval/off_track_share", "racer/off_track_share"),
    Chart(
        "steering: reversals per second",
        "eval/steer_reversals_per_sec",
        None,
        (("eval/steer_sign_changes_per_sec", "changes of sign per second"),),
    ),
)


def learning_curve(log: RunLog, chart: Chart, over: str, marks: Sequence[Mark], tracks: Sequence[str]) -> Figure | None:
    """Return a learning curve of a run.

    Args:
        log: Log of the run.
        chart: The chart to draw.
        over: Horizontal axis, STEPS or MINUTES.
        marks: Saved models, shown along the bottom.
        tracks: Ids of the tracks that the run trained on.

    Returns:
        The figure; None if the run has logged nothing for it.
    """
    lines = _lines(log, chart, tracks)
    if not lines:
        return None
    figure = new_figure(6.4, 3.5)
    axes = figure.add_subplot()
    for curve, colour, marker, label in lines:
        x = curve.steps if over == STEPS else curve.minutes
        axes.plot(x, curve.values, color=colour, linewidth=1.5, marker=marker, markersize=4, label=label)
    finish_curves(axes, chart.title, chart.is_share, over)
    if chart.is_lap_time:
        cut_off_slow_laps(axes, [curve.values for curve, *_ in lines])
    _draw_marks(axes, log, over, marks)
    return figure


def unmoved(log: RunLog, chart: Chart, tracks: Sequence[str]) -> str | None:
    """Return the values of a share's curves in words if none of them ever moves; None if one does, or nothing is there.

    The arguments are those of ``learning_curve``.
    """
    shares = [(label, still_share(curve.values)) for curve, *_, label in _lines(log, chart, tracks)]
    if not chart.is_share or not shares or any(words is None for _, words in shares):
        return None
    return ", ".join(f"{label} {words}" for label, words in shares)


def _lines(log: RunLog, chart: Chart, tracks: Sequence[str]) -> list[tuple[Curve, str, str, str]]:
    """Return the curves that a run has of a chart, each with colour, marker and label."""
    lines: list[tuple[str | None, str, str, str]] = [
        (chart.training, _TRAINING, "", "training, with exploration"),
        (chart.evaluation, _EVALUATION, "o", "evaluation"),
        *((tag, colour, ".", label) for (tag, label), colour in zip(chart.others, _OTHERS, strict=False)),
    ]
    if chart.is_lap_time and len(tracks) > 1:
        lines = [
            (chart.evaluation.replace("/", f"_{track}/"), DRIVERS[index % len(DRIVERS)], "o", f"evaluation on {track}")
            for index, track in enumerate(tracks[:MAX_TRACKS])
        ]
    return [
        (curve, colour, marker, label)
        for tag, colour, marker, label in lines
        if tag is not None and (curve := log.curve(tag)) is not None
    ]


def components(log: RunLog, names: Sequence[str], over: str) -> Figure | None:
    """Return the reward's components over a run, each on its own axis; None if none was logged."""
    curves = [(name, curve) for name in names if (curve := log.curve(f"reward/{name}")) is not None]
    if not curves:
        return None
    rows = (len(curves) + 2) // 3
    figure = new_figure(12.0, 2.3 * rows + 0.4)
    grid: Any = figure.subplots(rows, 3, squeeze=False)
    for axes, (name, curve) in zip(grid.flat, curves, strict=False):
        axes.plot(curve.steps if over == STEPS else curve.minutes, curve.values, color=_EVALUATION, linewidth=1.3)
        axes.set_title(name, loc="left", fontsize=10)
        axes.ticklabel_format(axis="y", scilimits=(-3, 4))
        clean(axes)
        label_axis(axes, over)
    for axes in grid.flat[len(curves) :]:
        axes.set_visible(False)
    return figure


def _draw_marks(axes: "Axes", log: RunLog, over: str, marks: Sequence[Mark]) -> None:
    """Draw a tick at the bottom for each saved model, and the labels of those that have one."""
    bottom: Any = axes.get_xaxis_transform()
    for mark in marks:
        where = mark.steps if over == STEPS else log.minutes_at(mark.steps)
        axes.plot([where, where], [0, 0.045], color=GREY, linewidth=1.4, transform=bottom, clip_on=False)
        if mark.label:
            box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.0}
            axes.text(where, 0.06, mark.label, transform=bottom, ha="center", fontsize=8, color=GREY, bbox=box)
