"""Tracks out of a seed: closed roads of several families that pass the same checks as a track file.

A track's name says how it is made again: ``procedural-7-12`` is track 12 of seed 7, ``procedural-hard-7-12`` is
hard, ``procedural-oval-7-12`` an oval.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from racer_env.errors import TrackError
from racer_env.physics import Physics, load_physics
from racer_env.simulator.geometry import CHORDS_PER_SEGMENT, CentreLine, TrackGeometry, boundary_samples
from racer_env.tracks import Track, check_track

FloatArray = npt.NDArray[np.float64]

NORMAL, HARD, OVAL = "procedural", "procedural-hard", "procedural-oval"
MAX_ATTEMPTS = 2_000  # for one track
VALIDATION_SEED = 1_000_000  # added to the seed of tracks that are neither trained nor reported on
MAX_TRACKS = 4_096  # of one set
GATE_SPACING = 45.0  # units, about
LEG_DISTANCE = 60.0  # units of arc length; what is farther along the line is another leg
_ROUNDING = 1e-9  # radians; a straight road turns by less, differently on each processor
_FITTING_ROUNDS = 6  # of making a shape rounder or sharper
_FITTING_SHARE = 0.15  # of the way to its neighbours that a control point moves in such a round
_RADIUS_MARGIN = 1.02  # at most the least radius as measured, over the true one between the measured points
_SHARP_ANGLES = math.radians(20), math.radians(65)  # that a corner turns by; at larger ones inner walls fold
_SAMPLE_STEP = 6.0  # units, of the generator's own checks
_T = np.linspace(0.0, 1.0, CHORDS_PER_SEGMENT + 1)
# The first derivatives of t^3, t^2, t and 1, and then the second ones, at all parameters of a segment: (42, 4).
_DERIVATIVES = np.concatenate(
    [np.stack([3 * _T**2, 2 * _T, 0 * _T + 1, 0 * _T], axis=1), np.stack([6 * _T, 0 * _T + 2, 0 * _T, 0 * _T], axis=1)]
)
_NAME = re.compile(rf"(?P<kind>{HARD}|{OVAL}|{NORMAL})-(?P<seed>[0-9]{{1,10}})-(?P<number>[0-9]{{1,7}})")


def generate_track(seed: int, number: int, kind: str = NORMAL, physics: Physics | None = None) -> Track:
    """Return a track; the same seed, number and kind make the same one.

    Args:
        seed: Of a set of tracks.
        number: Which of them, from 0.
        kind: A key of KINDS.
        physics: What to build it for; None is the project's.

    Raises:
        TrackError: None was found; it has not been seen to happen.
    """
    physics = load_physics() if physics is None else physics
    rules = KINDS[kind]
    random = np.random.default_rng([seed, number, list(KINDS).index(kind)])
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


def expand_names(names: Sequence[str], seed: int) -> list[str]:
    """Return names of tracks, with ``procedural:64`` and ``procedural-hard:8`` written out as so many of a seed.

    Raises:
        TrackError: The number of tracks is none, or too large.
    """
    expanded = []
    for name in names:
        kind, colon, count = name.partition(":")
        if kind not in KINDS or not colon:
            expanded.append(name)
            continue
        if not re.fullmatch("[0-9]{1,7}", count) or not 1 <= int(count) <= MAX_TRACKS:
            raise TrackError(f"expected {kind}:N with N from 1 to {MAX_TRACKS:,}, got {name!r}")
        expanded.extend(f"{kind}-{seed}-{number}" for number in range(int(count)))
    return expanded


def is_generated(name: str) -> bool:
    """Return whether a name says how a track is made."""
    return kind_of(name) is not None


def kind_of(name: str) -> str | None:
    """Return the key of KINDS of a name that says how a track is made; None for any other one."""
    match = _NAME.fullmatch(name)
    return None if match is None else match["kind"]


def track_of_name(name: str, physics: Physics | None = None) -> Track:
    """Return the track that a name like ``procedural-7-12`` says how to make.

    Raises:
        TrackError: The name is none of these.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise TrackError(f"expected one of {', '.join(KINDS)} with -SEED-NUMBER, got {name!r}")
    return generate_track(int(match["seed"]), int(match["number"]), match["kind"], physics)


# --- Families of shapes ---


def _fourier(random: np.random.Generator) -> FloatArray:
    """Draw a closed curve whose radius is a sum of few waves around the circle."""
    count = int(random.integers(14, 25))
    angle = np.arange(count) * 2 * math.pi / count
    radius = np.ones(count)
    for wave in range(2, int(random.integers(4, 7))):
        radius += random.uniform(0.0, 0.75) / wave * np.cos(wave * angle + random.uniform(0, 2 * math.pi))
    stretch = random.uniform(0.55, 1.0)
    return np.stack([radius * np.cos(angle), stretch * radius * np.sin(angle)], axis=1)


def _star(random: np.random.Generator) -> FloatArray:
    """Draw a rounded star: lobes of different length, with bays between them."""
    lobes = int(random.integers(3, 6))
    angle = (np.arange(4 * lobes) + random.uniform(-0.25, 0.25, 4 * lobes)) * 2 * math.pi / (4 * lobes)
    outer = np.repeat(random.uniform(0.8, 1.2, lobes), 4)
    inner = np.repeat(random.uniform(0.4, 0.75, lobes), 4)
    share = np.tile([1.0, 0.5, 0.0, 0.5], lobes)
    radius = share * outer + (1 - share) * inner
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _bent_hull(random: np.random.Generator) -> FloatArray:
    """Draw the hull of scattered points, with some of its sides bent inwards."""
    cloud = random.uniform(-1, 1, (int(random.integers(7, 14)), 2)) * (1.0, random.uniform(0.5, 1.0))
    hull = _convex_hull(cloud)
    following = np.roll(hull, -1, axis=0)
    middle = (hull + following) / 2
    inwards = -middle * random.uniform(0.0, 0.45, len(hull))[:, None]
    return np.stack([hull, middle + inwards], axis=1).reshape(-1, 2)


def _straights(random: np.random.Generator) -> FloatArray:
    """Draw a rectangle with long sides, of which one or two are kinked or drawn in, as many real tracks are."""
    width, height = 1.0, random.uniform(0.3, 0.7)
    corners = [(-width, -height), (width, -height), (width, height), (-width, height)]
    points: list[tuple[float, float]] = []
    for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1], strict=True):
        shares = (0.12, 0.35, 0.5, 0.65, 0.88)
        depth = random.uniform(0.0, 0.7) * height if random.random() < 0.5 else 0.0
        for share, bend in zip(shares, (0.0, 0.5, 1.0, 0.5, 0.0), strict=True):
            x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
            norm = math.hypot(x, y)
            points.append((x - x / norm * depth * bend, y - y / norm * depth * bend))
    jitter = random.normal(0.0, 0.03, (len(points), 2))
    return np.array(points) + jitter


def _hairpins(random: np.random.Generator) -> FloatArray:
    """Draw a narrow band around a bent line: there and back, with a hairpin at either end."""
    along = np.linspace(-1, 1, 9)
    heading = random.uniform(-1.25, 1.25) * along + random.uniform(-1, 1) * np.cos(along * math.pi / 2)
    ahead = np.stack([np.cos(heading), np.sin(heading)], axis=1)
    line = np.cumsum(ahead * (along[1] - along[0]), axis=0)
    aside = random.uniform(0.1, 0.2) * np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)
    return np.concatenate([line + aside, (line - aside)[::-1]])


def _oval(random: np.random.Generator) -> FloatArray:
    """Draw an oval, a little out of shape."""
    count = 20
    angle = np.arange(count) * 2 * math.pi / count
    radius = np.ones(count)
    for wave in (2, 3):
        radius += random.uniform(0.0, 0.1) * np.cos(wave * angle + random.uniform(0, 2 * math.pi))
    stretch = random.uniform(0.45, 0.85)
    return np.stack([radius * np.cos(angle), stretch * radius * np.sin(angle)], axis=1)


def _convex_hull(points: FloatArray) -> FloatArray:
    """Return the convex hull, counter-clockwise (Andrew's monotone chain)."""
    ordered = points[np.lexsort((points[:, 1], points[:, 0]))].tolist()

    def chain(rest: list[list[float]]) -> list[list[float]]:
        hull: list[list[float]] = []
        for x, y in rest:
            while len(hull) > 1 and (
                (hull[-1][0] - hull[-2][0]) * (y - hull[-2][1]) - (hull[-1][1] - hull[-2][1]) * (x - hull[-2][0]) <= 0
            ):
                hull.pop()
            hull.append([x, y])
        return hull[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))


# --- What a track may be ---


class Family(NamedTuple):
    """Shapes of one sort.

    Attributes:
        draw: Returns points (n, 2) of any size.
        rounds: How often its corners are rounded, at least and less than.
    """

    draw: Callable[[np.random.Generator], FloatArray]
    rounds: tuple[int, int]


@dataclass(frozen=True)
class Kind:
    """What a track may be.

    Attributes:
        name: In front of its tracks' names.
        families: One of which its shape is.
        length: Range of the length of the centre line, in units.
        half_width: Range of half of the road's width, in units.
        points: Range of the number of control points.
        tightest: Range that the radius of its shape's tightest curve is drawn from, in units.
        radius: What the radius of its tightest curve must be in the end, at least and at most, in units.
        clearance: Least distance of a wall from the centre line, in units.
        wall_samples: Range of the distance of its walls' samples, in radii of its shape's tightest curve.
        sharp_corners: How many of its corners are made sharp, at least and less than; fewer where few suit.
        sharp_radius: Range that their radii are drawn from, in units; they come out up to a fifth less or a half more.
    """

    name: str
    families: tuple[Family, ...]
    points: tuple[int, int]
    length: tuple[float, float]
    half_width: tuple[float, float]
    tightest: tuple[float, float]
    radius: tuple[float, float]
    clearance: float
    wall_samples: tuple[float, float] = (0.0, math.inf)
    sharp_corners: tuple[int, int] = (0, 1)
    sharp_radius: tuple[float, float] = (math.inf, math.inf)


KINDS = {
    NORMAL: Kind(
        NORMAL,
        families=tuple(Family(draw, (0, 3)) for draw in (_fourier, _star, _bent_hull, _straights)),
        points=(16, 28),
        length=(900.0, 3_500.0),
        half_width=(12.0, 28.0),
        tightest=(21.0, 103.0),
        radius=(16.0, 110.0),
        clearance=14.0,
    ),
    HARD: Kind(
        HARD,
        families=(
            Family(_fourier, (0, 1)),
            Family(_star, (0, 1)),
            Family(_bent_hull, (1, 4)),  # its corners are sharp
            Family(_straights, (0, 1)),
            Family(_hairpins, (0, 1)),
        ),
        points=(16, 32),
        length=(900.0, 3_500.0),
        half_width=(12.0, 16.0),
        tightest=(17.5, 20.5),  # long curves that are tighter fold walls
        radius=(9.0, 22.0),
        clearance=8.0,
        wall_samples=(0.28, 0.37),  # of others few pass
        sharp_corners=(0, 4),
        sharp_radius=(10.0, 16.0),
    ),
    # Short, wide and flat out all the way, where the line is all that a driver can win by.
    OVAL: Kind(
        OVAL,
        families=(Family(_oval, (0, 1)),),
        points=(16, 28),
        length=(900.0, 1_700.0),
        half_width=(18.0, 28.0),
        tightest=(65.0, 140.0),
        radius=(60.0, 150.0),
        clearance=14.0,
    ),
}


# --- From a shape to a road ---


class Road(NamedTuple):
    """What is drawn of a track.

    Attributes:
        points: (n, 2) control points, in units.
        half_widths: (n,) half of the road's width there, in units.
        length: Of the centre line, in units.
    """

    points: FloatArray
    half_widths: FloatArray
    length: float


def _draw(random: np.random.Generator, rules: Kind) -> Road | None:
    """Draw a road; None where its tightest curve does not fit the rest of it or comes out otherwise than wanted."""
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
    """Make some corners of a road (n, 2) sharp, away from its start: the points before and after move up to them.

    A short sharp bend can be tighter than a long one, as smoothing undoes the fold of its inner wall. Where points lie
    d apart on two straight lines that meet at the angle t, the spline's radius there is d cos(t/2)^2 / (4 sin(t/2)).
    """
    points = points.copy()
    steps = np.roll(points, -1, axis=0) - points
    lengths = np.hypot(*steps.T)
    angles = np.roll(_turning(steps), 1)
    corners = np.arange(3, len(points) - 2, 3)  # so that none moves the points of another
    corners = corners[(angles[corners] > _SHARP_ANGLES[0]) & (angles[corners] < _SHARP_ANGLES[1])]
    for corner in random.permutation(corners)[: random.integers(*rules.sharp_corners)]:
        half = angles[corner] / 2
        reach = random.uniform(*rules.sharp_radius) * 4 * math.sin(half) / math.cos(half) ** 2
        if reach < lengths[corner - 1 : corner + 1].min():
            points[corner - 1] = points[corner] - steps[corner - 1] * reach / lengths[corner - 1]
            points[corner + 1] = points[corner] + steps[corner] * reach / lengths[corner]
    return points


def _fitted(points: FloatArray, wall_samples: tuple[float, float]) -> tuple[FloatArray, CentreLine, float] | None:
    """Make a shape (n, 2) rounder or sharper until its walls' samples are as far apart as they may, in its least radii.

    The engine smooths walls over a few samples. Where they are dense, the inner wall of a tight curve stays too far
    out and folds; where they are sparse, it cuts into the road.

    Returns:
        Its points, centre line and least radius; None if they are not within a few rounds.
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
    """Draw control points (n, 2) of any size: evenly along the polygon of a shape, whose corners are rounded."""
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
    """Return how much a closed line of steps (n, 2) turns after each of them, in radians."""
    x, y = steps.T
    following_x, following_y = np.append(x[1:], x[0]), np.append(y[1:], y[0])
    turning: FloatArray = np.abs(np.arctan2(x * following_y - y * following_x, x * following_x + y * following_y))
    return turning


def _least_radius(line: CentreLine) -> float:
    """Return the least radius of curvature of the line, in units: |p'|^3 / |p' x p''| where its chords end.

    At a control point the second derivative jumps, and both sides count.
    """
    count = len(line.coefficients)
    derivatives = _DERIVATIVES @ line.coefficients.transpose(1, 2, 0).reshape(4, 2 * count)
    (vx, vy), (ax, ay) = np.moveaxis(derivatives.reshape(2, -1, 2, count), 2, 1)
    squared, bend = vx * vx + vy * vy, vx * ay - vy * ax
    return math.sqrt((squared * squared * squared / np.maximum(bend * bend, 1e-18)).min())


def _evenly(length: float, step: float) -> FloatArray:
    """Return arc lengths around a closed line, evenly, about ``step`` apart."""
    count = math.ceil(length / step)
    return np.arange(count) * length / count


def _folds(geometry: TrackGeometry) -> bool:
    """Return whether a wall runs backwards somewhere; it would cross itself."""
    walls = (geometry.inner_wall, geometry.outer_wall)
    return any((np.diff(wall, axis=0) * geometry.direction).sum(axis=1).min() <= 0 for wall in walls)


def _nearest(points: FloatArray, others: FloatArray) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Return which of others (m, 2) is nearest to each point (n, 2), and their squared distances, both (n,)."""
    # As a product of matrices, which is several times as fast as differences.
    weights = np.concatenate([-2.0 * others.T, (others**2).sum(axis=1)[None]])
    squared = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ weights
    nearest = squared.argmin(axis=1)
    return nearest, squared[np.arange(len(points)), nearest] + (points**2).sum(axis=1)


def _is_clear(geometry: TrackGeometry, rules: Kind) -> bool:
    """Return whether no wall comes too near to the line, and the nearest centre point never jumps to another leg."""
    line = geometry.centre_line
    distance = _evenly(line.total_length, _SAMPLE_STEP)
    centre = line.point_at(distance)
    for wall in (geometry.inner_wall[:-1], geometry.outer_wall[:-1]):
        nearest, squared = _nearest(wall, centre)
        if squared.min() < rules.clearance**2:
            return False
        reached = distance[nearest]  # along a wall it must move on steadily
        jump = np.abs(np.diff(np.append(reached, reached[0])))
        if np.minimum(jump, line.total_length - jump).max() > LEG_DISTANCE:
            return False
    return True
