"""A person at the keyboard, as a machine can be one: keys only, and what it sees is 200 ms old.

It presses left or right if the road ahead asks for more than a little turning, lifts before a bend that it is too fast
for, and brakes if it is much too fast.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from racer_env.simulator.simulator import Simulator
from racer_env.tracks import Track
from tests.helpers import MAX_SPEED, TICKS_PER_SECOND
from training.drives.steering_assist import SteeringAssist

FloatArray = npt.NDArray[np.float64]

REACTION = 12  # ticks from what happens to the key: 200 ms
HOLD = 3  # ticks for which a finger stays where it is, at least
LOOK, LOOK_TIME = 14.0, 0.53  # units, and seconds of driving from now, to the point that it aims at
DEAD = 0.75  # rad/s of turning for which no key is worth pressing
BEND_TIME, BEND_RATE = 0.7, 3.9  # seconds ahead in which it looks for bends, and rad/s at which it takes them
MUCH, SLOW = 12.0, 60.0  # units/s: that much too fast, it brakes; at that speed it no longer does
STEP, SPREAD = 2.0, 8.0  # units between the points of the line that it knows, and half of what it sees of a bend
STRAIGHT = 1e-3  # 1/units; a bend no stronger than this is none
NEW_LAPSE, AIM_TIME = 15, 30  # ticks after which a noisy one's reaction changes, and its aim wanders


@dataclass(frozen=True)
class Person:
    """How human it is.

    Attributes:
        guesses: Whether it guesses where its car is by now, from its speed and how it turned when it was seen.
        aim: Standard deviation of its aim, in radians; the error wanders within half a second.
        reaction: Most ticks by which its reaction is quicker or slower than usual.
    """

    guesses: bool = False
    aim: float = 0.0
    reaction: int = 0


@dataclass(frozen=True)
class Attempt:
    """What one car drove.

    Attributes:
        laps: Number of laps it completed.
        seconds: Mean lap time; infinite if it did not complete all of them.
        touched_wall: Whether it touched a wall before it had completed them.
    """

    laps: int
    seconds: float
    touched_wall: bool


class _Road:
    """The line of a track, as points that lie STEP apart."""

    def __init__(self, track: Track) -> None:
        line, count = track.geometry.centre_line, round(track.length / STEP)
        self._step = track.length / count
        arc_lengths = np.arange(count) * self._step
        self._points = line.point_at(arc_lengths)
        before, after = (line.unit_tangent_at(arc_lengths + side) for side in (-SPREAD, SPREAD))
        turned = np.arctan2(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0], (before * after).sum(axis=1))
        bend = np.maximum(np.abs(turned) / (2 * SPREAD), STRAIGHT)
        reach = round(BEND_TIME * MAX_SPEED / self._step) + 1
        self._sharpest = np.maximum.accumulate([np.roll(bend, -steps) for steps in range(reach)])

    def nearest(self, places: FloatArray) -> npt.NDArray[np.int64]:
        """Return the indices (N,) of the points nearest to places (N, 2)."""
        return np.square(self._points - places[:, None]).sum(axis=2).argmin(axis=1)

    def ahead(self, index: npt.NDArray[np.int64], distance: FloatArray) -> FloatArray:
        """Return the points (N, 2) that lie distances (N,) ahead of others."""
        return self._points[(index + np.rint(distance / self._step).astype(int)) % len(self._points)]

    def sharpest(self, index: npt.NDArray[np.int64], distance: FloatArray) -> FloatArray:
        """Return the strongest curvature (N,), in 1/units, within distances (N,) of points."""
        sharpest: FloatArray = self._sharpest[np.rint(distance / self._step).astype(int), index]
        return sharpest


def drive_by_keys(
    track: Track, cars: int, laps: int, *, assisted: bool, person: Person, seed: int = 0
) -> list[Attempt]:
    """Let some cars drive laps from the standing start, each alone, and return what each of them drove.

    Args:
        track: Track to drive on.
        cars: Number of cars, each with errors of its own.
        laps: Number of laps.
        assisted: Whether the steering assist stands between keys and car.
        person: How human the driver is.
        seed: Seed of these errors.
    """
    random, road, simulator = np.random.default_rng(seed), _Road(track), Simulator([track], cars)
    assists = [SteeringAssist() for _ in range(cars)]
    keys, since = np.zeros((cars, 3)), np.full((cars, 3), HOLD)
    aim, seen = np.zeros(cars), [simulator.cars.copy()] * (REACTION + person.reaction + 1)
    finished, touched = np.zeros(cars, int), np.zeros(cars, bool)
    for tick in range(1, laps * 30 * TICKS_PER_SECOND):
        if tick % NEW_LAPSE == 1:
            lapse = REACTION + random.integers(-person.reaction, person.reaction, cars, endpoint=True)
        aim += -aim / AIM_TIME + random.normal(0.0, person.aim, cars) * np.sqrt(2 / AIM_TIME)
        then = np.array([seen[-1 - lapse[car]][car] for car in range(cars)])
        wanted = _wanted(road, then, lapse / TICKS_PER_SECOND, person.guesses, aim)
        since += 1
        changes = (wanted != keys) & (since >= HOLD)
        keys, since = np.where(changes, wanted, keys), np.where(changes, 0, since)
        actions, speeds = keys.copy(), simulator.cars["speed"]
        if assisted:
            actions[:, 0] = [assist.step(*now) for assist, *now in zip(assists, keys[:, 0], speeds, strict=True)]
        simulator.step(actions)
        seen = [*seen[1:], simulator.cars.copy()]
        drives = finished == 0
        touched |= drives & (simulator.infos["wallContact"] > 0)
        finished[drives & (simulator.cars["lap"] > laps)] = tick
        if (touched | (finished > 0)).all():
            break
    done = simulator.cars["lap"] - 1
    seconds = np.where(finished > 0, finished / laps / TICKS_PER_SECOND, np.inf)
    return [Attempt(*one) for one in zip(done.tolist(), seconds.tolist(), touched.tolist(), strict=True)]


def _wanted(road: _Road, cars: npt.NDArray[np.void], since: FloatArray, guesses: bool, aim: FloatArray) -> FloatArray:
    """Return the keys (N, 3) that it wants to hold, seeing the cars (N,) like this so many seconds ago (N,)."""
    x, y, heading, speed = (cars[name] for name in ("x", "y", "heading", "speed"))
    far = LOOK + (LOOK_TIME + since) * speed  # from where it sees the car
    if guesses:
        way, turned = speed * since, cars["yaw_rate"] * since
        x, y = x + way * np.cos(heading + turned / 2), y + way * np.sin(heading + turned / 2)
        heading, far = heading + turned, far - way
    at = road.nearest(np.stack([x, y], axis=1))
    to_x, to_y = road.ahead(at, far).T
    bend = 2 * np.sin(np.arctan2(to_y - y, to_x - x) - heading + aim) / far  # 1/units, positive to the left
    turn = speed * bend
    fastest = BEND_RATE / np.maximum(road.sharpest(at, BEND_TIME * speed), np.abs(bend))
    steer = np.where(np.abs(turn) > DEAD, -np.sign(turn), 0.0)
    return np.stack([steer, speed < fastest, (speed > fastest + MUCH) & (speed > SLOW)], axis=1)
