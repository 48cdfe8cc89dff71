"""The shapes that tracks are generated from, and the limits of each kind of track."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from racer_env.tracks.names import HARD, NORMAL, OVAL

FloatArray = npt.NDArray[np.float64]

# --- Families of shapes ---


def _fourier(random: np.random.Generator) -> FloatArray:
    """Draw a closed curve whose radius is a sum of a few waves around the circle."""
    count = int(random.integers(14, 25))
    angle = np.arange(count) * 2 * math.pi / count
    radius = np.ones(count)
    for wave in range(2, int(random.integers(4, 7))):
        radius += random.uniform(0.0, 0.75) / wave * np.cos(wave * angle + random.uniform(0, 2 * math.pi))
    stretch = random.uniform(0.55, 1.0)
    return np.stack([radius * np.cos(angle), stretch * radius * np.sin(angle)], axis=1)


def _star(random: np.random.Generator) -> FloatArray:
    """Draw a rounded star: lobes of different lengths, with bays between them."""
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
    """Draw a rectangle with long sides, one or two of them kinked or drawn in, as on many real tracks."""
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
    """Draw a narrow band around a bent line: out and back, with a hairpin at each end."""
    along = np.linspace(-1, 1, 9)
    heading = random.uniform(-1.25, 1.25) * along + random.uniform(-1, 1) * np.cos(along * math.pi / 2)
    ahead = np.stack([np.cos(heading), np.sin(heading)], axis=1)
    line = np.cumsum(ahead * (along[1] - along[0]), axis=0)
    aside = random.uniform(0.1, 0.2) * np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)
    return np.concatenate([line + aside, (line - aside)[::-1]])


def _oval(random: np.random.Generator) -> FloatArray:
    """Draw a slightly irregular oval."""
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


# --- Limits of a track ---


class Family(NamedTuple):
    """Shapes of one type.

    Attributes:
        draw: Returns the shape's points (n, 2), at any scale.
        rounds: How often its corners are rounded: minimum, and maximum plus one.
    """

    draw: Callable[[np.random.Generator], FloatArray]
    rounds: tuple[int, int]


@dataclass(frozen=True)
class Kind:
    """The limits of one kind of track.

    Attributes:
        name: Prefix of the names of its tracks.
        families: Families that its shape is drawn from.
        length: Range of the centre line's length, in units.
        half_width: Range of half the road's width, in units.
        points: Range of the number of control points.
        tightest: Range that the radius of the shape's tightest curve is drawn from, in units.
        radius: Range that the radius of the finished track's tightest curve must lie in, in units.
        clearance: Least distance of a wall from the centre line, in units.
        wall_samples: Range of the distance between wall samples, in radii of the shape's tightest curve.
        sharp_corners: Number of corners made sharp: minimum, and maximum plus one; fewer if few are suitable.
        sharp_radius: Range that their radii are drawn from, in units; the results are up to a fifth less or half more.
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
        tightest=(17.5, 20.5),  # tighter long curves fold walls
        radius=(9.0, 22.0),
        clearance=8.0,
        wall_samples=(0.28, 0.37),  # few tracks outside this range pass
        sharp_corners=(0, 4),
        sharp_radius=(10.0, 16.0),
    ),
    # Short, wide and driven flat out: only the racing line makes a difference.
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
