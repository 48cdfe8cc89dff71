"""A track's geometry, computed from its control points: centre line, walls, road edges, gates, start.

Both engines build exactly this; ``docs/simulation.md`` defines it. Lengths are in units, angles in radians, and all
arrays are float64.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from racer_env.fdlibm import acos, atan2

FloatArray = npt.NDArray[np.float64]

CHORDS_PER_SEGMENT = 20
MIN_KNOT_INTERVAL = 1e-10  # a shorter one counts as 1
MIN_CHORD = 1e-10  # a shorter chord is not interpolated
MIN_BOUNDARY_SAMPLES = 200
BOUNDARY_SAMPLES_PER_POINT = 12
MIN_CURVATURE = 1e-8  # 1/units; below it a line is straight
INNER_CLEARANCE = 4.0  # units kept between a wall and the centre of its curve, and between centre line and wall
EDGE_CLEARANCE = 2.0  # units between road edge and wall where the wall limits the road
REDUCTION_RADIUS, REDUCTION_PASSES = 10, 3  # box filter of the walls' distances
POLYLINE_RADIUS, POLYLINE_PASSES = 4, 2  # box filter of the finished polylines


class CentreLine:
    """A closed centripetal Catmull-Rom spline through the control points, with its arc-length table.

    Source: Catmull and Rom (1974); centripetal parametrisation after Yuksel, Schaefer and Keyser (2011).

    Attributes:
        coefficients: (n, 4, 2) cubic, quadratic, linear and constant terms of each segment, in t in [0, 1].
        chord_ends: (20 n, 2) points at parameters 1/20, 2/20, ..., n.
        chords: (20 n, 2) vectors from each point to the next, the first from parameter 0.
        lengths: (20 n + 1,) cumulative chord length at parameters 0, 1/20, ..., n.
        total_length: Length of the whole line, the last of ``lengths``.
        point_lengths: (n,) arc length of each control point.
        half_width_slopes: (n,) growth of the half-width per arc length, from each control point to the next.
    """

    def __init__(self, points: FloatArray, half_widths: FloatArray) -> None:
        """Build the line through ``points`` (n, 2) with ``half_widths`` (n,)."""
        self.half_widths = half_widths
        self.coefficients = _hermite_coefficients(points)
        chords = len(points) * CHORDS_PER_SEGMENT
        self.chord_ends = _point(*self._at(np.arange(1, chords + 1) / CHORDS_PER_SEGMENT))
        self.chords = np.diff(np.concatenate([points[:1], self.chord_ends]), axis=0)
        self.lengths = np.concatenate([[0.0], np.cumsum(np.sqrt(self.chords[:, 0] ** 2 + self.chords[:, 1] ** 2))])
        self.total_length = float(self.lengths[-1])
        spans = np.diff(self.lengths[::CHORDS_PER_SEGMENT])
        rises = np.roll(half_widths, -1) - half_widths
        self.half_width_slopes = rises / np.where(spans > 0, spans, 1.0)
        self.point_lengths = self.lengths[:chords:CHORDS_PER_SEGMENT]

    def wrap(self, distance: FloatArray) -> FloatArray:
        """Wrap distances into [0, total_length)."""
        wrapped = np.fmod(distance, self.total_length)
        wrapped = np.where(wrapped < 0, wrapped + self.total_length, wrapped)
        return np.where(wrapped >= self.total_length, 0.0, wrapped)

    def parameter_at(self, distance: FloatArray) -> FloatArray:
        """Return the spline parameters in [0, n] at arc lengths of any value, in the same shape."""
        d = self.wrap(distance)
        low = self._chord_at(d)
        chord = self.lengths[low + 1] - self.lengths[low]
        short = chord < MIN_CHORD
        share = np.where(short, 0.0, (d - self.lengths[low]) / np.where(short, 1.0, chord))
        return (low + share) / CHORDS_PER_SEGMENT

    def point_at(self, distance: FloatArray) -> FloatArray:
        """Return the points (..., 2) at arc lengths (...)."""
        return _point(*self._segment(distance))

    def unit_tangent_at(self, distance: FloatArray) -> FloatArray:
        """Return the unit tangents (..., 2) at arc lengths (...)."""
        return _unit_tangent(*self._segment(distance))

    def point_and_tangent_at(self, distance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the points and the unit tangents, both (..., 2), at arc lengths (...)."""
        segment = self._segment(distance)
        return _point(*segment), _unit_tangent(*segment)

    def half_width_at(self, distance: FloatArray) -> FloatArray:
        """Return the half-widths at arc lengths, interpolated linearly between control points."""
        d = self.wrap(distance)
        segment = self._chord_at(d) // CHORDS_PER_SEGMENT
        values: FloatArray = self.half_widths[segment] + self.half_width_slopes[segment] * (
            d - self.point_lengths[segment]
        )
        return values

    def _chord_at(self, distance: FloatArray) -> npt.NDArray[np.int64]:
        """Return the last chords that begin at or before arc lengths in [0, total_length)."""
        return np.minimum(np.searchsorted(self.lengths, distance, side="right") - 1, len(self.lengths) - 2)

    def _segment(self, distance: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self._at(self.parameter_at(np.asarray(distance, dtype=np.float64)))

    def _at(self, parameter: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the coefficients and t for parameters in [0, n]."""
        whole = np.floor(parameter)
        index = whole.astype(np.int64) % len(self.coefficients)
        return self.coefficients[index], (parameter - whole)[..., None]


def _point(c: FloatArray, t: FloatArray) -> FloatArray:
    point: FloatArray = ((c[..., 0, :] * t + c[..., 1, :]) * t + c[..., 2, :]) * t + c[..., 3, :]
    return point


def _unit_tangent(c: FloatArray, t: FloatArray) -> FloatArray:
    tangent = (3 * c[..., 0, :] * t + 2 * c[..., 1, :]) * t + c[..., 2, :]
    unit: FloatArray = tangent / np.sqrt(tangent[..., :1] ** 2 + tangent[..., 1:] ** 2)
    return unit


def _hermite_coefficients(points: FloatArray) -> FloatArray:
    ring = np.concatenate([points[-1:], points, points[:2]])  # needs three points or more
    intervals = _knot_intervals(np.diff(ring, axis=0))
    p0, p1, p2, p3 = (ring[first : first + len(points)] for first in range(4))
    a, b, c = (intervals[first : first + len(points)] for first in range(3))
    m1 = ((p1 - p0) / a - (p2 - p0) / (a + b) + (p2 - p1) / b) * b
    m2 = ((p2 - p1) / b - (p3 - p1) / (b + c) + (p3 - p2) / c) * b
    return np.stack([2 * p1 - 2 * p2 + m1 + m2, -3 * p1 + 3 * p2 - 2 * m1 - m2, m1, p1], axis=1)


def _knot_intervals(steps: FloatArray) -> FloatArray:
    intervals = np.sqrt(np.sqrt(steps[:, :1] ** 2 + steps[:, 1:] ** 2))
    return np.where(intervals < MIN_KNOT_INTERVAL, 1.0, intervals)


@dataclass(frozen=True)
class Gate:
    """All checkpoint gates, one row each.

    Attributes:
        left: (m, 2) end on the inner wall.
        right: (m, 2) end on the outer wall.
        centre: (m, 2) point of the centre line.
        direction: (m, 2) unit tangent of the centre line there.
        arc_length: (m,) arc length there.
    """

    left: FloatArray
    right: FloatArray
    centre: FloatArray
    direction: FloatArray
    arc_length: FloatArray


class TrackGeometry:
    """Everything about a track that can be computed from its control points.

    Attributes:
        centre_line: Spline through the control points.
        total_length: Length of the centre line, in units.
        inner_wall, outer_wall, inner_road_edge, outer_road_edge: Closed polylines (S + 1, 2).
        direction: (S, 2) unit tangent of the centre line at the samples of the polylines.
        start: (x, y, heading) of the standing start, in units and radians.
    """

    def __init__(self, points: FloatArray, half_widths: FloatArray, checkpoint_count: int, wall_offset: float) -> None:
        """Build it from control points (n, 2), half-widths (n,), the number of gates and the wall offset."""
        self.centre_line = CentreLine(points, half_widths)
        self.total_length = self.centre_line.total_length
        samples = boundary_samples(len(points))
        distance = np.arange(samples) * self.total_length / samples
        centre, self.direction = self.centre_line.point_and_tangent_at(distance)
        left, right = self._boundaries(distance, centre, wall_offset)
        if _absolute_area(left[0]) > _absolute_area(right[0]):
            left, right = right, left
        self.inner_wall, self.inner_road_edge = (_closed(line) for line in left)
        self.outer_wall, self.outer_road_edge = (_closed(line) for line in right)
        self._checkpoint_count = checkpoint_count

    @cached_property
    def start(self) -> tuple[float, float, float]:
        """Position and heading of the standing start, in units and radians."""
        x, y = self.centre_line.point_at(np.zeros(()))
        tx, ty = self.centre_line.unit_tangent_at(np.zeros(()))
        return float(x), float(y), atan2(float(ty), float(tx))

    @cached_property
    def gates(self) -> Gate:
        """The checkpoints."""
        return self._gates(self._checkpoint_count)

    def _boundaries(self, distance: FloatArray, centre: FloatArray, wall_offset: float) -> FloatArray:
        """Return wall and road edge, left and right of the centre line, (2, 2, S, 2)."""
        half_width = self.centre_line.half_width_at(distance)
        wall = half_width + wall_offset
        lines = np.empty((2, 2, 2, len(distance)))  # samples last, as the filters expect
        for side, reduction in enumerate(self._inner_reductions(distance, wall)):
            outward = (1.0, -1.0)[side] * np.stack([-self.direction[:, 1], self.direction[:, 0]])
            reach = np.maximum(INNER_CLEARANCE, wall - reduction)
            road = np.minimum(half_width, reach - EDGE_CLEARANCE)
            lines[side, 0] = centre.T + outward * reach
            lines[side, 1] = centre.T + outward * road
        for _ in range(POLYLINE_PASSES):
            lines = circular_box_filter(lines, POLYLINE_RADIUS)
        return np.moveaxis(lines, 2, 3)

    def _inner_reductions(self, distance: FloatArray, wall: FloatArray) -> FloatArray:
        """Return how much closer than ``wall`` the left and right walls stand, (2, S), so that none folds."""
        radius = _signed_radius(self.centre_line, distance, self.total_length / (2 * len(distance)))
        room = np.maximum(INNER_CLEARANCE, np.abs(radius) - INNER_CLEARANCE)
        folds = np.abs(radius) < wall + INNER_CLEARANCE
        reduction = np.where(folds, wall - np.minimum(wall, room), 0.0)
        reductions = np.where(np.stack([radius > 0, radius <= 0]), reduction, 0.0)
        for _ in range(REDUCTION_PASSES):
            reductions = circular_box_filter(reductions, REDUCTION_RADIUS)
        return reductions

    def _gates(self, count: int) -> Gate:
        samples = len(self.inner_wall) - 1
        arc_length = np.arange(count) * self.total_length / count
        centre, direction = self.centre_line.point_and_tangent_at(arc_length)
        reach = max(5, math.ceil(samples / count))
        nearby = np.floor(arc_length / self.total_length * samples + 0.5).astype(np.int64)
        candidates = (nearby[:, None] + np.arange(-reach, reach + 1)) % samples
        ends = []
        for wall in (self.inner_wall, self.outer_wall):
            offset = wall[candidates] - centre[:, None]
            nearest = np.argmin(np.sqrt(offset[..., 0] ** 2 + offset[..., 1] ** 2), axis=1)
            ends.append(wall[candidates[np.arange(count), nearest]])
        return Gate(ends[0], ends[1], centre, direction, arc_length)


def _signed_radius(line: CentreLine, distance: FloatArray, half_step: float) -> FloatArray:
    """Return the radius of curvature at ``distance``: positive where the line turns left, infinite where straight."""
    u, v = line.unit_tangent_at(np.stack([distance - half_step, distance + half_step]))
    cosine = np.clip(u[:, 0] * v[:, 0] + u[:, 1] * v[:, 1], -1.0, 1.0)
    angle = np.array([acos(value) for value in cosine.tolist()])
    curvature = angle / (2 * half_step)
    straight = curvature <= MIN_CURVATURE
    radius = np.where(straight, np.inf, 1.0 / np.where(straight, 1.0, curvature))
    return np.where(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0] < 0, -radius, radius)


def boundary_samples(points: int) -> int:
    """Return how many samples the walls of a track with this many control points have."""
    return max(MIN_BOUNDARY_SAMPLES, BOUNDARY_SAMPLES_PER_POINT * points)


def circular_box_filter(values: FloatArray, radius: int) -> FloatArray:
    """Return the means (..., n) over 2 radius + 1 neighbours in rings (..., n) of more than ``radius`` values.

    They are computed by a running sum, whose rounding is part of the game.
    """
    count, size = values.shape[-1], 2 * radius + 1
    around = np.concatenate([values[..., count - radius :], values, values[..., : radius + 1]], axis=-1)
    # A cumulative sum over alternating +entering and -leaving values adds in the same order as the loop would.
    steps = np.empty((*values.shape[:-1], 2 * count - 1))
    steps[..., 0] = np.cumsum(around[..., :size], axis=-1)[..., -1]
    steps[..., 1::2] = around[..., size : size + count - 1]
    steps[..., 2::2] = -around[..., : count - 1]
    means: FloatArray = np.cumsum(steps, axis=-1)[..., ::2] / size
    return means


def _absolute_area(points: FloatArray) -> float:
    following = np.roll(points, -1, axis=0)
    # Added one after the other: the two walls of an eight enclose nearly equal areas, and rounding decides.
    return abs(float(np.cumsum(points[:, 0] * following[:, 1] - following[:, 0] * points[:, 1])[-1])) / 2


def _closed(points: FloatArray) -> FloatArray:
    return np.concatenate([points, points[:1]])
