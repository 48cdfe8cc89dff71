"""Drives as moving pictures: what to draw of a car at each tick."""

from collections import deque
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from racer_env.rendering import style
from racer_env.rendering.car_view import TRAIL_TICKS, CarView
from racer_env.rendering.painter import Painter
from training.drives.recording import Drive, Lap

PICTURE_SIZE = (960, 540)


def views_of(drive: Drive, index: int = 0) -> Iterator[CarView]:
    """Yield the view of a drive's car at its start and after every tick; it is always the same object.

    Args:
        drive: The drive to show.
        index: Index of the car among those drawn together, which determines its colour. Only the first has a trail:
            several in the same colours, of speed, would not tell whose they are.
    """
    trail = deque[tuple[float, float, float]](maxlen=TRAIL_TICKS if index == 0 else 0)
    car, physics = CarView(drive.driver, style.car_colour(index), trail=trail), drive.track.physics
    car.begin(drive.states[0], drive.observations[0], physics)
    yield car
    for state, observation in zip(drive.states[1:], drive.observations[1:], strict=True):
        car.see(state, observation, physics)
        yield car


def racing_line_picture(drive: Drive, size: tuple[int, int] = PICTURE_SIZE) -> npt.NDArray[np.uint8]:
    """Return a picture (height, width, 3) of a drive's best lap, or of the whole drive if it completed none."""
    painter = Painter(drive.track, size, rays=False)
    painter.draw([view_of_lap(drive, drive.shown_lap)])
    return painter.pixels()


def view_of_lap(drive: Drive, lap: Lap) -> CarView:
    """Return the view of a car at the end of a lap, with the whole lap as its trail."""
    car, physics = CarView(drive.driver, style.car_colour(0)), drive.track.physics
    car.begin(drive.states[0], drive.observations[0], physics)
    crossings = np.flatnonzero(np.diff(drive.states["lap"][: lap.last + 1])) + 1
    for tick in (*crossings.tolist(), lap.last):  # between them, nothing happens that is still seen at the end
        car.see(drive.states[tick], drive.observations[tick], physics)
    car.marks.clear()
    states = drive.states[lap.first : lap.last + 1]
    car.trail = deque(zip(states["x"].tolist(), states["y"].tolist(), states["speed"].tolist(), strict=True))
    return car
