"""Plots of drives: racing line, telemetry, lap times, and the difference between two laps."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure

from racer_env.contract import TICKS_PER_SECOND
from racer_env.rendering import style
from racer_env.tracks import Track
from training.drives.recording import Drive, Lap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from training.evaluation.episode import Episode

FloatArray = npt.NDArray[np.float64]

BRAKING = 0.3  # brake in [0, 1]; first exceeding it again after a release is a braking point
RELEASED = 0.1
MIN_SPEED_RANGE = 40.0  # units/s that the colours of a racing line span
INK, GREY, GRID = "#20242c", "#7b8494", "#e4e7ec"
GAIN, LOSS = "#2f9e6b", "#d64545"
DRIVERS = ("#d97706", "#2563eb", "#be185d", "#15803d", "#7c3aed")
_SPEEDS = LinearSegmentedColormap.from_list(
    "speed", [np.array(colour) / 255 for colour in style.speed_colours(np.linspace(0, 1, 17), 1.0)]
)


@dataclass(frozen=True)
class LapAlong:
    """A lap by arc length, n states.

    Attributes:
        arc_length: (n,) units along the track since the line, never falling.
        seconds: (n,) seconds since the car crossed the line.
        states: (n,) CAR_DTYPE, the car's states.
    """

    arc_length: FloatArray
    seconds: FloatArray
    states: npt.NDArray[np.void]


def along(drive: Drive, lap: Lap) -> LapAlong:
    """Return the states of a lap by arc length."""
    states, length = drive.states[lap.first : lap.last + 1], drive.track.length
    steps = np.diff(states["arc_length"])
    steps -= length * np.round(steps / length)
    first = (states["arc_length"][0] + length / 2) % length - length / 2  # just before the line is below 0
    arc_length = np.maximum.accumulate(np.concatenate([[first], first + np.cumsum(steps)]))
    return LapAlong(arc_length, np.arange(len(states)) / TICKS_PER_SECOND, states)


def braking_points(lap: LapAlong) -> npt.NDArray[np.intp]:
    """Return where braking begins in a lap, as indices of its states."""
    points, is_braking = [], False
    for index, brake in enumerate(lap.states["brake"]):
        if not is_braking and brake > BRAKING:
            points.append(index)
        is_braking = brake > (RELEASED if is_braking else BRAKING)
    return np.array(points, np.intp)


def racing_line(drive: Drive, lap: Lap, other: tuple[Drive, Lap] | None = None, width: float = 9.0) -> Figure:
    """Return a map of a lap: its line coloured by speed, with braking points; another lap's line is dashed."""
    driven, track = along(drive, lap), drive.track
    low, high = track.geometry.outer_wall.min(axis=0), track.geometry.outer_wall.max(axis=0)
    figure = new_figure(width, width * (high[1] - low[1]) / (high[0] - low[0]) * 0.86 + 0.6)
    axes = figure.add_subplot()
    _draw_road(axes, track)
    points = np.stack([driven.states["x"], driven.states["y"]], axis=1)
    line = LineCollection(
        list(np.stack([points[:-1], points[1:]], axis=1)), cmap=_SPEEDS, linewidth=2.6, capstyle="round", zorder=4
    )
    line.set_array(driven.states["speed"][1:])
    slowest = float(driven.states["speed"].min())
    line.set_clim(min(slowest, track.physics.max_speed - MIN_SPEED_RANGE), track.physics.max_speed)
    axes.add_collection(line)
    if other is not None:
        states = other[0].states[other[1].first : other[1].last + 1]
        label = f"{as_text(other[0].driver)}, {other[1].seconds:.2f} s"
        axes.plot(states["x"], states["y"], "--", color="white", linewidth=1.3, label=label, zorder=4)
    brakes = points[braking_points(driven)]
    if len(brakes):
        axes.plot(*brakes.T, "v", color=LOSS, markeredgecolor="white", markersize=9, label="braking begins", zorder=5)
    if len(brakes) or other is not None:
        axes.legend(loc="lower right", frameon=False, labelcolor="white")
    bar = figure.colorbar(line, ax=axes, fraction=0.035, pad=0.015)
    bar.set_label("speed in units/s")
    bar.outline.set_visible(False)
    touched = "" if lap.is_clean else ", touched a wall"
    axes.set_title(f"{as_text(drive.driver)} on {track.id}: {lap.seconds:.2f} s{touched}")
    return figure


def _draw_road(axes: "Axes", track: Track) -> None:
    def colour(name: style.Colour) -> str:
        return to_hex((name[0] / 255, name[1] / 255, name[2] / 255))

    geometry = track.geometry
    axes.set_facecolor(colour(style.OUTSIDE))
    axes.fill(*geometry.outer_wall.T, color=colour(style.SHOULDER), zorder=0)
    axes.fill(*geometry.inner_wall.T, color=colour(style.OUTSIDE), zorder=1)
    line = geometry.centre_line
    at = np.linspace(0.0, track.length, 800)
    (centre, tangent), half_width = line.point_and_tangent_at(at), line.half_width_at(at)[:, None]
    normal = np.stack([-tangent[:, 1], tangent[:, 0]], axis=1)
    left, right = centre + normal * half_width, centre - normal * half_width
    quads = np.stack([left[:-1], left[1:], right[1:], right[:-1]], axis=1)
    road = colour(style.ROAD)
    axes.add_collection(PolyCollection(list(quads), facecolors=road, edgecolors=road, linewidths=0.6, zorder=2))
    for wall in (geometry.outer_wall, geometry.inner_wall):
        axes.plot(*wall.T, color=colour(style.WALL), linewidth=1.6, zorder=3)
    axes.plot(*np.stack([left[0], right[0]]).T, color="white", linewidth=3, zorder=3)
    axes.set_aspect("equal")
    axes.margins(0.02)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)


def telemetry(laps: Sequence[tuple[Drive, Lap]], width: float = 10.0, height: float = 8.0) -> Figure:
    """Return speed, throttle, brake and steering over arc length, for one or more laps of one track."""
    figure = new_figure(width, height)
    rows: Any = figure.subplots(4, 1, sharex=True, height_ratios=[2.2, 1, 1, 1.2])
    for index, (drive, lap) in enumerate(laps):
        driven = along(drive, lap)
        label = f"{as_text(drive.driver)}, {lap.seconds:.2f} s"
        for axes, name in zip(rows, ("speed", "throttle", "brake", "steer"), strict=True):
            axes.plot(driven.arc_length, driven.states[name], color=_colour(index), linewidth=1.5, label=label)
    titles = ("speed\nunits/s", "throttle", "brake", "steering\nleft    right")
    fastest = laps[0][0].track.physics.max_speed
    slowest = min(float(drive.states["speed"][lap.first : lap.last + 1].min()) for drive, lap in laps)
    limits = ((min(slowest, fastest - MIN_SPEED_RANGE) - 5, fastest + 5), (-0.05, 1.05), (-0.05, 1.05), (-1.1, 1.1))
    for axes, title, limit in zip(rows, titles, limits, strict=True):
        axes.set_ylabel(title)
        axes.set_ylim(*limit)
        clean(axes)
    rows[3].axhline(0, color=GREY, linewidth=0.8)
    rows[3].set_xlabel("distance along the track in units")
    rows[3].set_xlim(0, laps[0][0].track.length)
    rows[0].legend(frameon=False, ncols=len(laps), loc="lower right", bbox_to_anchor=(1.0, 1.0))
    rows[0].set_title(f"best lap on {laps[0][0].track.id}", loc="left")
    return figure


def lap_times(drivers: Sequence[tuple[str, Sequence["Episode"]]], track_id: str) -> Figure:
    """Return the times of all laps that drivers drove on a track, by lap number."""
    figure = new_figure(10.0, 4.2)
    axes = figure.add_subplot()
    most = max((len(episode.lap_ticks) for _, episodes in drivers for episode in episodes), default=0)
    for index, (name, episodes) in enumerate(drivers):
        colour, offset = _colour(index), (index - (len(drivers) - 1) / 2) * 0.16
        times = [lap_time for episode in episodes for lap_time in episode.lap_times]
        for episode in episodes:
            numbers = np.arange(1, len(episode.lap_ticks) + 1) + offset
            axes.plot(numbers, episode.lap_times, color=colour, alpha=0.25, linewidth=1)
            for is_clean, face in ((True, colour), (False, "white")):
                chosen = [i for i, was_clean in enumerate(episode.clean) if was_clean == is_clean]
                there = [episode.lap_times[i] for i in chosen]
                axes.plot(numbers[chosen], there, "o", color=colour, markerfacecolor=face, markersize=7)
        if times:
            label = f"{as_text(name)}: mean {np.mean(times):.2f} s, best {min(times):.2f} s"
            axes.axhline(float(np.mean(times)), color=colour, linewidth=1, linestyle="--", label=label)
    if most:
        axes.set_xticks(range(1, most + 1) if most <= 20 else np.linspace(1, most, 10).round())
        axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0))
    else:
        axes.text(0.5, 0.5, "no lap completed", transform=axes.transAxes, ha="center", color=GREY)
    axes.set_xlabel("lap of an episode (hollow: touched a wall)")
    axes.set_ylabel("lap time in s")
    axes.set_title(f"laps on {track_id}", loc="left")
    clean(axes)
    return figure


def time_difference(one: tuple[Drive, Lap], other: tuple[Drive, Lap]) -> Figure:
    """Return by how much time one lap is ahead of another, along the track."""
    figure = new_figure(10.0, 4.2)
    axes = figure.add_subplot()
    distance, ahead = seconds_ahead(one, other)
    axes.fill_between(distance, 0, ahead, where=(ahead >= 0).tolist(), color=GAIN, alpha=0.3, interpolate=True)
    axes.fill_between(distance, 0, ahead, where=(ahead <= 0).tolist(), color=LOSS, alpha=0.3, interpolate=True)
    axes.plot(distance, ahead, color=INK, linewidth=1.6)
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.set_xlim(0, one[0].track.length)
    axes.set_xlabel("distance along the track in units")
    axes.set_ylabel("s ahead, below 0 behind")
    names = [f"{as_text(drive.driver)} ({lap.seconds:.2f} s)" for drive, lap in (one, other)]
    axes.set_title(f"{names[0]} against {names[1]}, best laps on {one[0].track.id}", loc="left")
    clean(axes)
    return figure


def seconds_ahead(one: tuple[Drive, Lap], other: tuple[Drive, Lap]) -> tuple[FloatArray, FloatArray]:
    """Return distances along the track, and by how many seconds one lap is ahead of another there."""
    first, second = along(*one), along(*other)
    distance = np.linspace(0.0, one[0].track.length, 500)
    times = [np.interp(distance, lap.arc_length, lap.seconds) for lap in (first, second)]
    return distance, times[1] - times[0]


def save_plots(
    folder: Path, drives: Sequence[Drive], episodes: Sequence[tuple[str, Sequence["Episode"]]], track_id: str
) -> list[Path]:
    """Write all plots of one track as PNG files.

    Args:
        folder: Folder to write to; it is made if necessary.
        drives: For each driver, the drive with its best lap.
        episodes: Pairs of a driver's name and its episodes.
        track_id: Id of the track.

    Returns:
        Paths of the files written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    laps = [(drive, drive.best_lap) for drive in drives]
    known = [(drive, lap) for drive, lap in laps if lap is not None]
    figures: dict[str, Figure] = {"lap_times": lap_times(episodes, track_id)}
    if laps[0][1] is not None:
        figures["racing_line"] = racing_line(*known[0], other=known[1] if len(known) > 1 else None)
        figures["telemetry"] = telemetry(known)
        if len(known) > 1:
            figures["difference"] = time_difference(known[0], known[1])
    paths = []
    for name, figure in figures.items():
        paths.append(folder / f"{track_id}_{name}.png")
        figure.savefig(paths[-1], dpi=130)
    return paths


def as_text(name: str) -> str:
    """Return a name that Matplotlib shows unchanged: not as a formula, and not left out of a legend."""
    escaped = name.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def _colour(index: int) -> str:
    return DRIVERS[index % len(DRIVERS)]


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, size in inches, in the style of all plots here."""
    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def clean(axes: "Axes") -> None:
    """Give axes the style of all plots here."""
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=GREY, length=0)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(False)
