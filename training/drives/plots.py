"""Plots of drives: racing line, telemetry, lap times, and the difference between two laps."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure

from racer_env.rendering import DARK, style
from racer_env.tracks import Track
from training.drives.along import along, braking_points, gap_to_reference
from training.drives.corners import corners_of
from training.drives.recording import Drive, Lap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from training.evaluation.episode import Episode

PALETTE = style.PALETTES[DARK]
MIN_SPEED_RANGE = 40.0  # units/s that the colours of a racing line span
LEAST_LAP_MARGIN = 0.1  # s above the slowest lap
LEAST_SPEED_RANGE, LEAST_STEERING = 10.0, 0.25  # units/s that telemetry spans; steering that it reaches to each side
INK, GREY, GRID, BAND = "#20242c", "#7b8494", "#e4e7ec", "#f1f4f8"
GAIN, LOSS = "#2f9e6b", "#d64545"
DRIVERS = ("#d97706", "#2563eb", "#be185d", "#15803d", "#7c3aed")
_SPEEDS = LinearSegmentedColormap.from_list(
    "speed", [np.array(colour) / 255 for colour in style.speed_colours(np.linspace(0, 1, 17), 1.0)]
)


def racing_line(drive: Drive, lap: Lap, other: tuple[Drive, Lap] | None = None, width: float = 9.0) -> Figure:
    """Return a map of a lap: its line coloured by speed, with braking points; another lap's line is dashed."""
    driven, track = along(drive, lap), drive.track
    low, high = track.geometry.outer_wall.min(axis=0), track.geometry.outer_wall.max(axis=0)
    figure = new_figure(width, width * (high[1] - low[1]) / (high[0] - low[0]) * 0.86 + 0.6)
    axes = figure.add_subplot()
    _draw_road(axes, track)
    _number_corners(axes, track)
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
    axes.set_facecolor(colour(PALETTE.outside))
    axes.fill(*geometry.outer_wall.T, color=colour(PALETTE.shoulder), zorder=0)
    axes.fill(*geometry.inner_wall.T, color=colour(PALETTE.outside), zorder=1)
    line = geometry.centre_line
    at = np.linspace(0.0, track.length, 800)
    (centre, tangent), half_width = line.point_and_tangent_at(at), line.half_width_at(at)[:, None]
    normal = np.stack([-tangent[:, 1], tangent[:, 0]], axis=1)
    left, right = centre + normal * half_width, centre - normal * half_width
    quads = np.stack([left[:-1], left[1:], right[1:], right[:-1]], axis=1)
    road = colour(PALETTE.road)
    axes.add_collection(PolyCollection(list(quads), facecolors=road, edgecolors=road, linewidths=0.6, zorder=2))
    for wall in (geometry.outer_wall, geometry.inner_wall):
        axes.plot(*wall.T, color=colour(PALETTE.wall), linewidth=1.6, zorder=3)
    axes.plot(*np.stack([left[0], right[0]]).T, color="white", linewidth=3, zorder=3)
    axes.set_aspect("equal")
    axes.margins(0.02)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)


def _number_corners(axes: "Axes", track: Track) -> None:
    """Write the numbers of the corners beside the road, on its outside."""
    corners, line = corners_of(track), track.geometry.centre_line
    middles = np.array([corner.middle for corner in corners])
    points, tangents = line.point_and_tangent_at(middles)
    to_the_right = np.stack([tangents[:, 1], -tangents[:, 0]], axis=1)
    outwards = np.array([1.0 if corner.is_left else -1.0 for corner in corners])
    aside = outwards * (line.half_width_at(middles) + 0.35 * track.physics.wall_offset)  # walls may be nearer
    for corner, (x, y) in zip(corners, (points + to_the_right * aside[:, None]).tolist(), strict=True):
        axes.text(x, y, str(corner.number), color="white", weight="bold", ha="center", va="center", zorder=3)


@dataclass(frozen=True)
class _Panel:
    """A panel of telemetry.

    Attributes:
        name: Field of a car's state.
        title: Display title.
        unit: Unit, with a space before it; empty if it has none.
        height: Height in inches.
        stillness: Largest difference that is no change.
    """

    name: str
    title: str
    unit: str
    height: float
    stillness: float


_STEERING = _Panel("steer", "steering", "", 2.8, 0.0)
_PANELS = (
    _Panel("speed", "speed", " units/s", 2.2, 0.5),
    _Panel("throttle", "throttle", "", 1.1, 0.01),
    _Panel("brake", "brake", "", 1.1, 0.01),
    _STEERING,
)


def telemetry(laps: Sequence[tuple[Drive, Lap]], width: float = 10.0) -> Figure:
    """Return steering over distance, and speed, throttle and brake, for one or more laps of one track.

    What never changes on any of the laps is said below the panels, and not drawn.
    """
    track, driven = laps[0][0].track, [along(drive, lap) for drive, lap in laps]
    values = {panel: [lap.states[panel.name] for lap in driven] for panel in _PANELS}
    ends = {panel: (float(min(map(np.min, of))), float(max(map(np.max, of)))) for panel, of in values.items()}
    drawn = [panel for panel, (low, high) in ends.items() if panel is _STEERING or high - low > panel.stillness]
    heights = [panel.height for panel in drawn]
    figure = new_figure(width, sum(heights) + 1.3)
    rows: Any = figure.subplots(len(drawn), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for axes, panel in zip(rows, drawn, strict=True):
        for index, ((drive, lap), line) in enumerate(zip(laps, values[panel], strict=True)):
            label = f"{as_text(drive.driver)}, {lap.seconds:.2f} s"
            axes.plot(driven[index].arc_length, line, color=_colour(index), linewidth=1.5, label=label)
        axes.set_ylabel(f"{panel.title}\n{panel.unit.strip()}".strip())
        axes.set_ylim(*_limits_of(panel, *ends[panel]))
    _finish_over_distance(rows, track, f"best lap on {track.id}")
    rows[-1].axhline(0, color=GREY, linewidth=0.8)
    for place, side in ((0.97, "right"), (0.03, "left")):
        align = "top" if side == "right" else "bottom"
        rows[-1].text(0.006, place, side, transform=rows[-1].transAxes, va=align, fontsize=9, color=GREY)
    still = [f"{panel.title} {ends[panel][1]:.3g}{panel.unit}" for panel in _PANELS if panel not in drawn]
    if still:
        rows[-1].set_xlabel(f"{rows[-1].get_xlabel()}\nall the way: {', '.join(still)}")
    return figure


def _limits_of(panel: _Panel, low: float, high: float) -> tuple[float, float]:
    """Return the limits of a panel's vertical axis for values from ``low`` to ``high``."""
    if panel is _STEERING:
        reach = max(1.15 * max(-low, high), LEAST_STEERING)
        return -reach, reach
    if panel.name == "speed":
        low = min(low, high - LEAST_SPEED_RANGE)
        return low - 0.05 * (high - low), high + 0.05 * (high - low)
    return -0.05, 1.05


def _finish_over_distance(rows: Sequence["Axes"], track: Track, title: str) -> None:
    """Give panels over distance their title, legend, horizontal axis, and bands with the numbers of the corners."""
    corners = corners_of(track)
    for axes in rows:
        clean(axes)
        for corner in corners:
            for shift in (0.0, track.length):  # a corner around the line is at both ends
                axes.axvspan(corner.first + shift, corner.last + shift, color=BAND, linewidth=0, zorder=0)
    rows[-1].set_xlabel("distance along the track in units")
    rows[-1].set_xlim(0, track.length)
    top = rows[0].secondary_xaxis("top")
    top.set_xticks(
        [corner.middle for corner in corners],
        [f"{'corner ' if corner.number == 1 else ''}{corner.number}" for corner in corners],
    )
    top.tick_params(colors=GREY, length=0)
    top.spines["top"].set_visible(False)
    rows[0].set_title(title, loc="left")
    if rows[0].get_legend_handles_labels()[0]:
        above = 1.8  # font sizes, for the numbers
        rows[0].legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=above)


def lap_times(drivers: Sequence[tuple[str, Sequence["Episode"]]], track_id: str) -> Figure:
    """Return the times of all laps that drivers drove on a track, by lap number.

    The axis spans the laps after the first. A standing start makes that one longer, and the others would lie in a line;
    where it is beyond the axis, its time is written at the top.
    """
    figure = new_figure(10.0, 4.2)
    axes = figure.add_subplot()
    most = max((len(episode.lap_ticks) for _, episodes in drivers for episode in episodes), default=0)
    places = [1 + (index - (len(drivers) - 1) / 2) * 0.16 for index in range(len(drivers))]  # of the first laps
    for index, (name, episodes) in enumerate(drivers):
        _draw_laps(axes, name, episodes, places[index], _colour(index))
    if most:
        axes.set_xticks(range(1, most + 1) if most <= 20 else np.linspace(1, most, 10).round())
        axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0))
    else:
        axes.text(0.5, 0.5, "no lap completed", transform=axes.transAxes, ha="center", color=GREY)
    axes.set_xlabel("lap of an episode (hollow: touched a wall)")
    axes.set_ylabel("lap time in s")
    axes.set_title(f"laps on {track_id}", loc="left", pad=10)
    clean(axes)
    later = [lap_time for _, episodes in drivers for episode in episodes for lap_time in episode.lap_times[1:]]
    if later:
        _fit_to_later_laps(axes, [episodes for _, episodes in drivers], places, max(later))
    return figure


def _draw_laps(axes: "Axes", name: str, episodes: Sequence["Episode"], first: float, colour: str) -> None:
    """Draw a driver's laps, the first ones at ``first`` on the horizontal axis."""
    for episode in episodes:
        numbers = first + np.arange(len(episode.lap_ticks))
        axes.plot(numbers, episode.lap_times, color=colour, alpha=0.25, linewidth=1)
        for is_clean, face in ((True, colour), (False, "white")):
            chosen = [i for i, was_clean in enumerate(episode.clean) if was_clean == is_clean]
            there = [episode.lap_times[i] for i in chosen]
            axes.plot(numbers[chosen], there, "o", color=colour, markerfacecolor=face, markersize=7)
    times = [lap_time for episode in episodes for lap_time in episode.lap_times]
    if times:
        label = f"{as_text(name)}: mean {np.mean(times):.2f} s, best {min(times):.2f} s"
        axes.plot([], [], "o", color=colour, label=label)


def _fit_to_later_laps(
    axes: "Axes", drivers: Sequence[Sequence["Episode"]], places: Sequence[float], slowest: float
) -> None:
    """End the vertical axis above the slowest of the later laps, and write what first laps are beyond."""
    bottom = axes.get_ylim()[0]
    top = slowest + max(0.15 * (slowest - bottom), LEAST_LAP_MARGIN)
    if top >= axes.get_ylim()[1]:
        return
    axes.set_ylim(bottom, top)
    said = 0
    for index, (episodes, place) in enumerate(zip(drivers, places, strict=True)):
        beyond = [episode for episode in episodes if episode.lap_times and episode.lap_times[0] > top]
        if beyond:
            times, colour = [episode.lap_times[0] for episode in beyond], _colour(index)
            ends = dict.fromkeys((f"{min(times):.2f}", f"{max(times):.2f}"))  # one, if they are the same
            face = colour if all(episode.clean[0] for episode in beyond) else "white"
            axes.plot([place], [top], "^", color=colour, markerfacecolor=face, markersize=9, clip_on=False, zorder=5)
            below = (12, -4 - 14 * said)  # points from the last mark
            words = f"first lap {' to '.join(ends)} s"
            axes.annotate(words, (places[-1], top), below, textcoords="offset points", va="top", color=colour)
            said += 1


def time_difference(one: tuple[Drive, Lap], reference: tuple[Drive, Lap]) -> Figure:
    """Return the gap of a lap to a reference along the track, which is below 0 where the lap is ahead."""
    figure = new_figure(10.0, 4.2)
    axes = figure.add_subplot()
    distance, gap = gap_to_reference(one, reference)
    axes.fill_between(distance, 0, gap, where=(gap <= 0).tolist(), color=GAIN, alpha=0.3, interpolate=True)
    axes.fill_between(distance, 0, gap, where=(gap >= 0).tolist(), color=LOSS, alpha=0.3, interpolate=True)
    axes.plot(distance, gap, color=INK, linewidth=1.6)
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.set_ylabel("gap to reference (s)\nahead below 0")
    names = [f"{as_text(drive.driver)} ({lap.seconds:.2f} s)" for drive, lap in (one, reference)]
    title = f"{names[0]} against the reference {names[1]}, best laps on {one[0].track.id}"
    _finish_over_distance([axes], one[0].track, title)
    return figure


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
