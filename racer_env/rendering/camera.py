"""From world coordinates, in units with y up, to a picture, in pixels with y down."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from racer_env.tracks import Track

MARGIN = 12.0  # units of the world around a track's walls

CAR_LENGTH, MIN_CAR_LENGTH, CAR_SHARE = 30.0, 8.0, 0.06  # pixels, pixels, and share of the picture's shorter side

Area = tuple[int, int, int, int]  # left, top, width and height in pixels


@dataclass(frozen=True)
class Camera:
    """A view straight down, with north up.

    Attributes:
        x, y: World point in the middle of the area, in units.
        scale: Pixels per unit of the world.
        area: Left, top, width and height of the drawn area in the picture, in pixels.
        min_car_length: Least length of a drawn car, in pixels; seen from far above, cars are drawn enlarged.
    """

    x: float
    y: float
    scale: float
    area: Area
    min_car_length: float

    def to_pixels(self, points: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the picture's pixels (..., 2) for world points (..., 2)."""
        left, top, width, height = self.area
        offset = np.asarray(points, dtype=np.float64) - (self.x, self.y)
        middle = np.array([left + width / 2, top + height / 2])
        return middle + offset * (self.scale, -self.scale)


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
