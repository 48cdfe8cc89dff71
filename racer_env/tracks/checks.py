"""Checks that a track can be driven: its size, walls, start and gates."""

import math

import numpy as np
import numpy.typing as npt

from racer_env.contract import DT
from racer_env.errors import TrackError
from racer_env.json_files import Checker
from racer_env.tracks.geometry import TrackGeometry
from racer_env.tracks.track import FloatArray, Track

MAX_LENGTH = 15_000.0  # units; the most that the simulator's tables can hold
MIN_POINT_DISTANCE = 1e-6  # units; nearer control points are duplicates
SEGMENTS_IN_RUN = 8  # consecutive wall segments that are compared with others as one box
RUNS_AT_ONCE = 4_096  # pairs of runs checked at once, so that a tangled road needs no gigabytes
DRIVE_STEP = 2.0  # units between the points of the test drive along the centre line
MIN_GATE_REACH = 60.0  # units of the centre line on each side of a gate where the test drive expects it


def check_track(track: Track) -> None:
    """Check a track that did not come from a file, as one from a file is checked.

    Raises:
        TrackError: The track cannot be driven.
    """
    check = Checker(TrackError, track.id)
    check_points(check, track.points)
    check_size(check, track)
    check_drivable(check, track.geometry)


def check_points(check: Checker, points: FloatArray) -> None:
    """Refuse control points (n, 2) that coincide."""
    apart = np.hypot(*np.moveaxis(points[:, None] - points, 2, 0))
    same = np.argwhere(np.triu(apart < MIN_POINT_DISTANCE, 1))
    if len(same):
        index, again = same[0]
        raise check.fail(
            f"controlPoints[{again}] repeats controlPoints[{index}]; the loop closes by itself, remove one"
        )


def check_size(check: Checker, track: Track) -> None:
    """Refuse a track that is too long, or whose gates are too close together."""
    polygon = np.hypot(*(np.roll(track.points, -1, axis=0) - track.points).T).sum()
    if polygon > MAX_LENGTH:
        raise check.fail(f"the track is {polygon:,.0f} units long; the most is {MAX_LENGTH:g}")
    gate_distance, step = track.length / track.checkpoint_count, track.physics.max_speed * DT
    if gate_distance <= step:
        raise check.fail(
            f"checkpointCount {track.checkpoint_count} puts gates {gate_distance:.3g} units apart; a car moves up to "
            f"{step:.3g} per tick, so use at most {int(track.length / step)}"
        )


def check_drivable(check: Checker, geometry: TrackGeometry) -> None:
    """Refuse a road that fills its loop, walls that cross, a start off the road, and gates out of order."""
    _check_width(check, geometry)
    for name, line, other in (
        ("inner wall crosses itself", geometry.inner_wall, None),
        ("outer wall crosses itself", geometry.outer_wall, None),
        ("inner and outer wall cross", geometry.inner_wall, geometry.outer_wall),
    ):
        crossing = first_crossing(line, other)
        if crossing is not None:
            raise check.fail(
                f"the {name} near ({crossing[0]:.0f}, {crossing[1]:.0f}); "
                "move the control points apart, soften the curve or narrow the road there"
            )
    _check_start(check, geometry)
    _check_gates(check, geometry)


def _check_width(check: Checker, geometry: TrackGeometry) -> None:
    """Refuse a road so wide that nothing is left inside; no loop has more room inside than a circle as long."""
    widest, room = float(geometry.centre_line.half_widths.max()), geometry.total_length / (2 * math.pi)
    if widest >= room:
        raise check.fail(
            f"the road is {geometry.total_length:,.0f} units long, and a half-width of {widest:,.0f} units leaves "
            f"nothing inside such a loop; take half-widths below {room:,.4g}"
        )


def _check_start(check: Checker, geometry: TrackGeometry) -> None:
    x, y, _ = geometry.start
    if _is_inside(geometry.inner_wall, x, y) or not _is_inside(geometry.outer_wall, x, y):
        raise check.fail(f"the start ({x:.0f}, {y:.0f}), which is controlPoints[0], is off the road")


def _check_gates(check: Checker, geometry: TrackGeometry) -> None:
    """Drive a lap along the centre line and check that it crosses every gate in order."""
    gates, length = geometry.gates, geometry.total_length
    steps = math.ceil(length / DRIVE_STEP)
    line_x, line_y = geometry.centre_line.point_at(np.arange(steps) * length / steps).T.copy()
    reach = max(MIN_GATE_REACH, 1.5 * length / len(gates.arc_length))
    around = np.arange(-math.ceil(reach / DRIVE_STEP), math.ceil(reach / DRIVE_STEP) + 1)
    place = np.floor(gates.arc_length[:, None] * steps / length).astype(np.int64) + around
    (left_x, left_y), (across_x, across_y) = gates.left.T, (gates.right - gates.left).T
    offset_x, offset_y = line_x[place % steps] - left_x[:, None], line_y[place % steps] - left_y[:, None]
    # Each point lies on one side of a gate, so no rounding can hide a crossing between two of them.
    side = across_x[:, None] * offset_y - across_y[:, None] * offset_x
    gate, which = np.nonzero((side[:, :-1] > 0) != (side[:, 1:] > 0))
    step_x, step_y = (line[gate, which + 1] - line[gate, which] for line in (offset_x, offset_y))
    share = side[gate, which] / (side[gate, which] - side[gate, which + 1])
    met_x, met_y = offset_x[gate, which] + share * step_x, offset_y[gate, which] + share * step_y
    met = met_x * across_x[gate] + met_y * across_y[gate]
    forwards = step_x * gates.direction[gate, 0] + step_y * gates.direction[gate, 1] > 0
    crossed = forwards & (met >= 0) & (met <= (across_x**2 + across_y**2)[gate])
    crossings: list[list[int]] = [[] for _ in gates.arc_length]
    for number, at in zip(gate[crossed].tolist(), place[gate, which][crossed].tolist(), strict=True):
        crossings[number].append(at + (steps if number == 0 else 0))
    at = 0
    for number in [*range(1, len(crossings)), 0]:
        later = [crossing for crossing in crossings[number] if crossing >= at]
        if not later:
            x, y = gates.centre[number]
            raise check.fail(
                f"gate {number} near ({x:.0f}, {y:.0f}) cannot be crossed by driving along the centre line; "
                "soften the curve there or change checkpointCount"
            )
        at = later[0]


def _cross(u: FloatArray, v: FloatArray) -> FloatArray:
    product: FloatArray = u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
    return product


def _crosses(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> npt.NDArray[np.bool_]:
    """Return whether segments a-b and c-d (..., 2) cross or touch; parallel ones count as not crossing."""
    r, s = b - a, d - c
    denominator = _cross(r, s)
    safe = np.where(denominator == 0, 1.0, denominator)
    t, u = _cross(c - a, s) / safe, _cross(c - a, r) / safe
    met: npt.NDArray[np.bool_] = (denominator != 0) & (t >= 0) & (t <= 1) & (u >= 0) & (u <= 1)
    return met


def first_crossing(line: FloatArray, other: FloatArray | None = None) -> FloatArray | None:
    """Return where a closed polyline (n, 2) crosses another one, or itself if there is none; None if it does not.

    Neighbouring segments of one line are not compared.
    """
    is_same = other is None
    other = line if other is None else other
    # Few pairs are close to each other, and only those need an exact check.
    low, high = _boxes(line, SEGMENTS_IN_RUN)
    others = _boxes(other, SEGMENTS_IN_RUN)
    runs = np.argwhere(_meet(low[..., None], high[..., None], *(corner[:, None] for corner in others)))
    if is_same:  # each pair once
        runs = runs[runs[:, 0] <= runs[:, 1]]
    for first in range(0, len(runs), RUNS_AT_ONCE):
        where = _first_crossing_of(runs[first : first + RUNS_AT_ONCE], line, other, is_same)
        if where is not None:
            return where
    return None


def _first_crossing_of(
    runs: npt.NDArray[np.int64], line: FloatArray, other: FloatArray, is_same: bool
) -> FloatArray | None:
    """Return where any of the pairs (m, 2) of runs of segments crosses, or None."""
    within = np.arange(SEGMENTS_IN_RUN)
    one, two = (run[:, None] * SEGMENTS_IN_RUN + within for run in runs.T)
    one, two = np.repeat(one, SEGMENTS_IN_RUN, axis=1).ravel(), np.tile(two, SEGMENTS_IN_RUN).ravel()
    wanted = (one < len(line) - 1) & (two < len(other) - 1)
    if is_same:
        wanted &= (one + 1 < two) & ((one > 0) | (two < len(line) - 2))
    one, two = one[wanted], two[wanted]
    boxes, others = _boxes(line), _boxes(other)
    near = _meet(*(corner.take(one, axis=1) for corner in boxes), *(corner.take(two, axis=1) for corner in others))
    if not near.any():
        return None
    one, two = one[near], two[near]
    crossed = _crosses(line[one], line[one + 1], other[two], other[two + 1])
    where: FloatArray | None = line[one[crossed].min()] if crossed.any() else None
    return where


def _boxes(line: FloatArray, segments: int = 1) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper corners (2, n) of the boxes around every ``segments`` segments of a polyline."""
    first, ends = np.arange(0, len(line) - 1, segments), line.T.copy()
    low, high = np.minimum(ends[:, :-1], ends[:, 1:]), np.maximum(ends[:, :-1], ends[:, 1:])
    return np.minimum.reduceat(low, first, axis=1), np.maximum.reduceat(high, first, axis=1)


def _meet(low: FloatArray, high: FloatArray, other_low: FloatArray, other_high: FloatArray) -> npt.NDArray[np.bool_]:
    """Return whether boxes (2, ...) overlap or touch."""
    meet = (low[0] <= other_high[0]) & (other_low[0] <= high[0])
    meet = meet & (low[1] <= other_high[1]) & (other_low[1] <= high[1])
    return np.asarray(meet, np.bool_)


def _is_inside(polygon: FloatArray, x: float, y: float) -> bool:
    """Return whether a point lies in a closed polygon, by the even-odd rule."""
    a, b = polygon[:-1], polygon[1:]
    spans = (a[:, 1] > y) != (b[:, 1] > y)
    height = np.where(spans, b[:, 1] - a[:, 1], 1.0)
    return bool(np.count_nonzero(spans & (x < a[:, 0] + (y - a[:, 1]) * (b[:, 0] - a[:, 0]) / height)) % 2)
