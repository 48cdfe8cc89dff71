"""From world coordinates, in units with y up, to a picture, in pixels with y down."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from racer_env.tracks import Track

MARGIN = 12.0  # units of the world around a track's walls

CAR_LENGTH, MIN_CAR_LENGTH, CAR_SHARE = 30.0, 8.0, 0.06  # pixels, pixels, and share of the picture's shorter side

Area = tuple[int, int, int, int]  # left, top, width and height in pixels


@dataclass(frozen=True)
class Camera:
    """A view straight down.

    Attributes:
        x, y: World point that is drawn at the anchor, in units.
        scale: Pixels per unit of the world.
        area: Left, top, width and height of the drawn area in the picture, in pixels.
        min_car_length: Least length of a drawn car, in pixels; seen from far above, cars are drawn enlarged.
        turn: Radians that the world is turned by, counter-clockwise; at 0, north is up.
        anchor: Where in the area (x, y) is drawn, as shares of its width and of its height.
    """

    x: float
    y: float
    scale: float
    area: Area
    min_car_length: float
    turn: float = 0.0
    anchor: tuple[float, float] = (0.5, 0.5)

    @property
    def middle(self) -> npt.NDArray[np.float64]:
        """The picture's pixel (2,) at the anchor."""
        left, top, width, height = self.area
        return np.array([left + width * self.anchor[0], top + height * self.anchor[1]])

    def to_pixels(self, points: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the picture's pixels (..., 2) for world points (..., 2)."""
        offset = np.asarray(points, dtype=np.float64) - (self.x, self.y)
        return self.middle + turned(offset, self.turn) * (self.scale, -self.scale)


def turned(points: npt.NDArray[np.float64], angle: float) -> npt.NDArray[np.float64]:
    """Return points (..., 2) turned counter-clockwise around the origin, by an angle in radians."""
    cos, sin = math.cos(angle), math.sin(angle)
    result: npt.NDArray[np.float64] = points @ np.array([[cos, sin], [-sin, cos]])
    return result


def bounds_of(track: Track) -> tuple[float, float, float, float]:
    """Return the left, bottom, right and top bounds of a track, including MARGIN, in units."""
    low = track.geometry.outer_wall.min(axis=0) - MARGIN
    high = track.geometry.outer_wall.max(axis=0) + MARGIN
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def whole_track(track: Track, area: Area) -> Camera:
    """Return the camera that just fits all of a track."""
    left, bottom, right, top = bounds_of(track)
    scale = min(area[2] / (right - left), area[3] / (top - bottom))
    car = min(CAR_LENGTH, max(MIN_CAR_LENGTH, CAR_SHARE * min(area[2:])))
    return Camera((left + right) / 2, (bottom + top) / 2, scale, area, car)
