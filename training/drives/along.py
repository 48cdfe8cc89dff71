"""Laps by distance along the track: their states, where braking begins, and the gap between two of them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from racer_env.contract import TICKS_PER_SECOND
from training.drives.recording import Drive, Lap

FloatArray = npt.NDArray[np.float64]

BRAKING = 0.3  # brake in [0, 1]; first exceeding it again after a release is a braking point
RELEASED = 0.1


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


def gap_to_reference(one: tuple[Drive, Lap], reference: tuple[Drive, Lap]) -> tuple[FloatArray, FloatArray]:
    """Return distances along the track in units, and the gap of a lap to a reference there in seconds, both (n,).

    As on a timing screen, the gap is below 0 where the lap is ahead.
    """
    first, second = along(*one), along(*reference)
    distance = np.linspace(0.0, one[0].track.length, 500)
    times = [np.interp(distance, lap.arc_length, lap.seconds) for lap in (first, second)]
    return distance, times[0] - times[1]
