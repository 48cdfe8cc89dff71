"""A track's corners, numbered from the start line, so that plots and maps can name a place."""

import math
from dataclasses import dataclass

import numpy as np

from racer_env.tracks import Track

STEP, REACH = 2.0, 16.0  # units between places that are looked at, and to each side over which the road's turn counts
LARGEST_RADIUS = 250.0  # units; the road is straight where it turns less
LEAST_TURN = math.radians(30)  # a corner turns the road by so much


@dataclass(frozen=True)
class Corner:
    """A stretch on which the road turns one way.

    Attributes:
        number: Its number, counted from 1 in the direction of driving; the line is passed before the middle of 1.
        first, last: Arc lengths of its ends, in units; a corner around the line begins below 0.
        is_left: Whether the road turns left.
    """

    number: int
    first: float
    last: float
    is_left: bool

    @property
    def middle(self) -> float:
        """Arc length of its middle, in units, within [0, length) of the track."""
        return (self.first + self.last) / 2


def corners_of(track: Track) -> list[Corner]:
    """Return the corners of a track, in the order of driving."""
    at = np.arange(0.0, track.length, STEP)
    line = track.geometry.centre_line
    behind, ahead = line.unit_tangent_at(at - REACH), line.unit_tangent_at(at + REACH)
    cross = behind[:, 0] * ahead[:, 1] - behind[:, 1] * ahead[:, 0]
    turn = np.arctan2(cross, (behind * ahead).sum(axis=1)) / (2 * REACH)  # radians per unit, positive to the left
    side = np.sign(turn) * (np.abs(turn) > 1 / LARGEST_RADIUS)
    begins = np.flatnonzero(side != np.roll(side, 1)).tolist() or [0]
    found = []
    for first, last in zip(begins, [*begins[1:], begins[0] + len(at)], strict=True):
        angle = abs(float(turn.take(range(first, last), mode="wrap").sum())) * STEP
        if side[first] and angle >= LEAST_TURN:
            before = track.length if (first + last) / 2 * STEP >= track.length else 0.0  # its middle is past the line
            found.append((first * STEP - before, last * STEP - before, bool(side[first] > 0)))
    found.sort(key=lambda corner: corner[0] + corner[1])
    return [Corner(number, *corner) for number, corner in enumerate(found, start=1)]
