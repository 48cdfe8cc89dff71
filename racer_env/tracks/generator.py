"""Tracks generated from a seed: closed roads of several families that pass the same checks as a track file.

``racer_env.tracks.names`` defines their names, ``racer_env.tracks.shapes`` their shapes.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from racer_env.errors import TrackError
from racer_env.physics import Physics, load_physics
from racer_env.tracks.checks import check_track
from racer_env.tracks.geometry import CHORDS_PER_SEGMENT, CentreLine, TrackGeometry, boundary_samples
from racer_env.tracks.names import KIND_NAMES, NORMAL, parse_generated
from racer_env.tracks.shapes import KINDS, Kind
from racer_env.tracks.track import FloatArray, Track

MAX_ATTEMPTS = 2_000  # attempts for one track
GATE_SPACING = 45.0  # units between gates, approximately
LEG_DISTANCE = 60.0  # units of arc length; points farther apart along the line are on different legs
_ROUNDING = 1e-9  # radians; turns smaller than this on a straight road are rounding, which differs between processors
_FITTING_ROUNDS = 6  # rounds of making a shape rounder or sharper
_FITTING_SHARE = 0.15  # share of the way to its neighbours that a control point moves in such a round
_RADIUS_MARGIN = 1.02  # bound of the measured least radius over the true one, which may lie between the measured points
_SHARP_ANGLES = math.radians(20), math.radians(65)  # range of a corner's turn; sharper turns fold the inner wall
_SAMPLE_STEP = 6.0  # units between the samples of the generator's own checks
_T = np.linspace(0.0, 1.0, CHORDS_PER_SEGMENT + 1)
# First, then second derivatives of t^3, t^2, t and 1 at all parameters of a segment: (42, 4).
_DERIVATIVES = np.concatenate(
    [np.stack([3 * _T**2, 2 * _T, 0 * _T + 1, 0 * _T], axis=1), np.stack([6 * _T, 0 * _T + 2, 0 * _T, 0 * _T], axis=1)]
)


def generate_track(seed: int, number: int, kind: str = NORMAL, physics: Physics | None = None) -> Track:
    """Return a track; the same seed, number and kind make the same one.

    Args:
        seed: Seed of a set of tracks.
        number: Number of the track in the set, from 0.
        kind: Kind of track, a key of KINDS.
        physics: Physics to build the track for; None is the project's.

    Raises:
        TrackError: No track was found; this has never been observed.
    """
    physics = load_physics() if physics is None else physics
    rules = KINDS[kind]
    random = np.random.default_rng([seed, number, KIND_NAMES.index(kind)])
    for _ in range(MAX_ATTEMPTS):
        road = _draw(random, rules)
        if road is None:
            continue
        track = Track(
            id=f"{kind}-{seed}-{number}",
            name=f"{kind.rpartition('-')[2].capitalize()} {seed}-{number}",
            checkpoint_count=max(12, round(road.length / GATE_SPACING)),
            points=road.points,
            half_widths=road.half_widths,
            physics=physics,
        )
        if _folds(track.geometry) or not _is_clear(track.geometry, rules):
            continue
        try:
            check_track(track)
        except TrackError:
            continue
        return track
    raise TrackError(f"no track {kind}-{seed}-{number} was found in {MAX_ATTEMPTS:,} attempts; take another seed")


def track_of_name(name: str, physics: Physics | None = None) -> Track:
    """Return the track that a name like ``procedural-7-12`` stands for.

    Raises:
        TrackError: The name is not of this form.
    """
    generated = parse_generated(name)
    if generated is None:
        raise TrackError(f"expected one of {', '.join(KINDS)} with -SEED-NUMBER, got {name!r}")
    return generate_track(generated.seed, generated.number, generated.kind, physics)


# --- From a shape to a road ---


class Road(NamedTuple):
    """The drawn description of a track.

    Attributes:
        points: (n, 2) control points, in units.
        half_widths: (n,) half of the road's width there, in units.
        length: Length of the centre line, in units.
    """

    points: FloatArray
    half_widths: FloatArray
    length: float


def _draw(random: np.random.Generator, rules: Kind) -> Road | None:
    """Draw a road; None if its tightest curve does not fit the rest of it, or misses the wanted radius."""
    fitted = _fitted(_rounded_shape(random, rules), rules.wall_samples)
    if fitted is None:
        return None
    points, line, radius = fitted
    shortest, longest = np.divide(rules.length, line.total_length)
    tightest = np.divide(rules.tightest, radius)
    low, high = max(shortest, tightest[0]), min(longest, tightest[1])
    if low > high:
        return None
    turn = random.uniform(0, 2 * math.pi)
    rotation = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    points = random.uniform(low, high) * points @ rotation
    if random.random() < 0.5:
        points = points[::-1]
    turning = _turning(points - np.roll(points, 1, axis=0))
    calm = turning <= np.sort(turning)[len(turning) // 5] + _ROUNDING
    points = np.roll(points, -int(np.argmax(calm)), axis=0)
    points = _sharpened(points, random, rules)
    points = (points - (points.min(axis=0) + points.max(axis=0)) / 2).round(3)
    half_widths = _half_widths(len(points), random, rules).round(3)
    line = CentreLine(points, half_widths)
    least, most = rules.radius[0] * _RADIUS_MARGIN, rules.radius[1]
    is_fit = least <= _least_radius(line) <= most and line.total_length >= rules.length[0]
    return Road(points, half_widths, line.total_length) if is_fit else None


def _half_widths(count: int, random: np.random.Generator, rules: Kind) -> FloatArray:
    """Draw half-widths (count,), constant or varying, in units."""
    low, high = rules.half_width
    half_widths = np.full(count, random.uniform(low, high))
    if random.random() < 0.5:
        around = np.arange(count) * 2 * math.pi / count
        waves = np.cos(around * random.integers(1, 4) + random.uniform(0, 2 * math.pi))
        half_widths = np.clip(half_widths * (1 + random.uniform(0.05, 0.25) * waves), low, high)
    return half_widths


def _sharpened(points: FloatArray, random: np.random.Generator, rules: Kind) -> FloatArray:
    """Sharpen some corners of a road (n, 2), away from its start, by moving the points before and after up to them.

    A short sharp bend can be tighter than a long one, as smoothing undoes the fold of its inner wall. If points lie d
    apart on two straight lines that meet at the angle t, the spline's radius there is d cos(t/2)^2 / (4 sin(t/2)).
    """
    points = points.copy()
    steps = np.roll(points, -1, axis=0) - points
    lengths = np.hypot(*steps.T)
    angles = np.roll(_turning(steps), 1)
    corners = np.arange(3, len(points) - 2, 3)  # spaced so that no corner moves the points of another
    corners = corners[(angles[corners] > _SHARP_ANGLES[0]) & (angles[corners] < _SHARP_ANGLES[1])]
    for corner in random.permutation(corners)[: random.integers(*rules.sharp_corners)]:
        half = angles[corner] / 2
        reach = random.uniform(*rules.sharp_radius) * 4 * math.sin(half) / math.cos(half) ** 2
        if reach < lengths[corner - 1 : corner + 1].min():
            points[corner - 1] = points[corner] - steps[corner - 1] * reach / lengths[corner - 1]
            points[corner + 1] = points[corner] + steps[corner] * reach / lengths[corner]
    return points


def _fitted(points: FloatArray, wall_samples: tuple[float, float]) -> tuple[FloatArray, CentreLine, float] | None:
    """Make a shape (n, 2) rounder or sharper until its walls' samples are spaced as allowed, in least radii.

    The engine smooths walls over a few samples. If these are dense, the inner wall of a tight curve stays too far out
    and folds; if they are sparse, it cuts into the road.

    Returns:
        The shape's points, centre line and least radius; None if a few rounds do not suffice.
    """
    low, high = wall_samples
    for _ in range(_FITTING_ROUNDS):
        line = CentreLine(points, np.ones(len(points)))
        radius = _least_radius(line)
        spacing = line.total_length / boundary_samples(len(points)) / radius
        if low <= spacing <= high:
            return points, line, radius
        around = np.concatenate([points[-1:], points, points[:1]])
        bend = around[:-2] + around[2:] - 2 * points
        points = points + (_FITTING_SHARE if spacing > high else -_FITTING_SHARE) * bend
    return None


def _rounded_shape(random: np.random.Generator, rules: Kind) -> FloatArray:
    """Draw control points (n, 2) of any scale: evenly along the polygon of a shape with rounded corners."""
    family = rules.families[random.integers(len(rules.families))]
    corners = family.draw(random)
    closed = np.concatenate([corners, corners[:1]])
    reached = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(closed, axis=0).T))])
    count = int(random.integers(rules.points[0], rules.points[1] + 1))
    at = np.arange(count) * reached[-1] / count
    points = np.stack([np.interp(at, reached, closed[:, axis]) for axis in (0, 1)], axis=1)
    for _ in range(int(random.integers(*family.rounds))):
        points = 0.25 * np.roll(points, 1, axis=0) + 0.5 * points + 0.25 * np.roll(points, -1, axis=0)
    return points


def _turning(steps: FloatArray) -> FloatArray:
    """Return the absolute turn of a closed line after each of its steps (n, 2), in radians."""
    x, y = steps.T
    following_x, following_y = np.append(x[1:], x[0]), np.append(y[1:], y[0])
    turning: FloatArray = np.abs(np.arctan2(x * following_y - y * following_x, x * following_x + y * following_y))
    return turning


def _least_radius(line: CentreLine) -> float:
    """Return the line's least radius of curvature, in units: |p'|^3 / |p' x p''| at the ends of its chords.

    At a control point the second derivative jumps, so both sides count.
    """
    count = len(line.coefficients)
    derivatives = _DERIVATIVES @ line.coefficients.transpose(1, 2, 0).reshape(4, 2 * count)
    (vx, vy), (ax, ay) = np.moveaxis(derivatives.reshape(2, -1, 2, count), 2, 1)
    squared, bend = vx * vx + vy * vy, vx * ay - vy * ax
    return math.sqrt((squared * squared * squared / np.maximum(bend * bend, 1e-18)).min())


def _evenly(length: float, step: float) -> FloatArray:
    """Return evenly spaced arc lengths around a closed line, about ``step`` apart."""
    count = math.ceil(length / step)
    return np.arange(count) * length / count


def _folds(geometry: TrackGeometry) -> bool:
    """Return whether a wall runs backwards somewhere, that is, would cross itself."""
    walls = (geometry.inner_wall, geometry.outer_wall)
    return any((np.diff(wall, axis=0) * geometry.direction).sum(axis=1).min() <= 0 for wall in walls)


def _nearest(points: FloatArray, others: FloatArray) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Return for each point (n, 2) the index of the nearest of others (m, 2), and its squared distance, both (n,)."""
    # A matrix product is several times as fast as differences.
    weights = np.concatenate([-2.0 * others.T, (others**2).sum(axis=1)[None]])
    squared = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ weights
    nearest = squared.argmin(axis=1)
    return nearest, squared[np.arange(len(points)), nearest] + (points**2).sum(axis=1)


def _is_clear(geometry: TrackGeometry, rules: Kind) -> bool:
    """Return whether all walls keep their distance from the line, and the nearest centre point stays on one leg."""
    line = geometry.centre_line
    distance = _evenly(line.total_length, _SAMPLE_STEP)
    centre = line.point_at(distance)
    for wall in (geometry.inner_wall[:-1], geometry.outer_wall[:-1]):
        nearest, squared = _nearest(wall, centre)
        if squared.min() < rules.clearance**2:
            return False
        reached = distance[nearest]  # along a wall, this must advance steadily
        jump = np.abs(np.diff(np.append(reached, reached[0])))
        if np.minimum(jump, line.total_length - jump).max() > LEG_DISTANCE:
            return False
    return True
