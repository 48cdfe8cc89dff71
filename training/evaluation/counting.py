"""Counting what cars do, tick by tick, in compiled code: laps, contacts, how smoothly they steer, when they are done.

All kernels are in this file, as Numba notices a change in the file of a kernel only, and compiles it anew.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.contract import (
    ACTION_SIZE,
    INFO_DTYPE,
    OBSERVATION_SIZE,
    OBSERVED_ARC_LENGTH,
    OBSERVED_STEER,
    STEER,
    TICKS_PER_SECOND,
)
from racer_env.simulator.compile_cache import cached_njit, entry_point
from training.evaluation.episode import ASSUMED_LENGTH, Episode, Steering

HYSTERESIS = 0.05  # steering in [-1, 1]; smaller moves do not count
STALL_SECONDS, STALL_UNITS = 3, 3.0  # a car that advances less than this in that time has stalled
STALL_TICKS = STALL_SECONDS * TICKS_PER_SECOND

# What is counted of an episode, under the names of ``Episode`` and ``Steering``, and what counting needs to remember.
_COUNTED = ("steps", "wall_ticks", "off_track_ticks", "ticks_before", "stalls")
_COUNTED_STEERING = ("command_changes", "wheel_changes", "reversals")
COUNTS_DTYPE = np.dtype(
    [
        *((name, np.int64) for name in (*_COUNTED, *_COUNTED_STEERING)),
        ("reward", np.float64),
        ("total_change", np.float64),
        ("was_cut", np.bool_),
        ("laps", np.int64),  # completed
        ("laps_asked", np.int64),
        ("lap_begin", np.int64),  # step at which the running lap began
        ("has_touched", np.bool_),  # whether it has touched a wall
        ("patience", np.int64),  # most ticks of a lap, and of the way to the line
        ("length", np.float64),  # of the track, in units
        ("command", np.float64),  # of the tick before, as are wheel and share
        ("command_side", np.int64),
        ("wheel_side", np.int64),
        ("direction", np.int64),  # whether the command rises or falls: 1, -1, or 0 before either
        ("turn", np.float64),  # its extreme value in that direction
        ("share", np.float64),
        ("way", np.float64),  # units along the track since its first tick
        ("is_stalled", np.bool_),
    ],
    align=True,
)


@cached_njit()
def side_of(value: float) -> int:
    """Return 1 or -1 for a number beyond the hysteresis, else 0."""
    return int(value > HYSTERESIS) - int(value < -HYSTERESIS)


@cached_njit()
def count_steering(car: Any, command: float, wheel: float) -> None:
    """Count changes of sign and direction; what does not move by more than the hysteresis has done neither.

    Args:
        car: The car's counts.
        command: The driver's steering.
        wheel: The smoothed steer after it, in [-1, 1].
    """
    command = min(max(command, -1.0), 1.0)
    if car.steps == 0:
        car.turn = car.command = command
    side = side_of(command)
    if side != 0:
        car.command_changes += int(side == -car.command_side)
        car.command_side = side
    side = side_of(wheel)
    if side != 0:
        car.wheel_changes += int(side == -car.wheel_side)
        car.wheel_side = side
    moved = command - car.turn
    if moved * car.direction > 0:
        car.turn = command
    elif abs(moved) > HYSTERESIS:
        car.reversals += int(car.direction != 0)
        car.direction = 1 if moved > 0 else -1
        car.turn = command
    car.total_change += abs(command - car.command)
    car.command = command


@cached_njit()
def count_stalls(car: Any, ways: npt.NDArray[np.float64], share: float) -> None:
    """Count how often a car stops making progress; a stall that lasts counts once.

    Args:
        car: The car's counts.
        ways: Its way after each of the last STALL_TICKS ticks, in turns; updated.
        share: Its position as a share of the track's length, in [0, 1].
    """
    if car.steps > 0:
        step = share - car.share
        car.way += (step - np.rint(step)) * car.length
    car.share = share
    turn = car.steps % STALL_TICKS
    stalls = car.steps >= STALL_TICKS and abs(car.way - ways[turn]) < STALL_UNITS
    ways[turn] = car.way
    car.stalls += int(stalls and not car.is_stalled)
    car.is_stalled = stalls


@cached_njit()
def count_tick(
    car: Any,
    ways: npt.NDArray[np.float64],
    lap_ticks: npt.NDArray[np.int64],
    clean: npt.NDArray[np.bool_],
    info: Any,
    reward: float,
    action: npt.NDArray[np.float64],
    observation: npt.NDArray[np.float64],
) -> bool:
    """Add a tick to the counts of a car, and return whether its laps are driven or took too long."""
    count_steering(car, action[STEER], observation[OBSERVED_STEER])
    count_stalls(car, ways, observation[OBSERVED_ARC_LENGTH])
    car.steps += 1
    car.wall_ticks += int(info.wallContact)
    car.off_track_ticks += int(info.offTrack != 0.0)
    car.reward += reward
    car.has_touched = car.has_touched or info.wallContact
    if info.lap == 0:
        car.ticks_before = car.lap_begin = car.steps + 1
        car.has_touched = False
    elif info.lap - 1 > car.laps and car.laps < car.laps_asked:
        lap_ticks[car.laps], clean[car.laps] = car.steps - car.lap_begin, not car.has_touched
        car.laps += 1
        car.lap_begin = car.steps
        car.has_touched = False
    return bool(car.laps >= car.laps_asked or max(car.steps - car.lap_begin, car.ticks_before) >= car.patience)


@cached_njit()
def count_cars(
    counts: npt.NDArray[np.void],
    ways: npt.NDArray[np.float64],
    lap_ticks: npt.NDArray[np.int64],
    clean: npt.NDArray[np.bool_],
    cars: npt.NDArray[np.int64],
    running: npt.NDArray[np.bool_],
    infos: npt.NDArray[np.void],
    rewards: npt.NDArray[np.float64],
    actions: npt.NDArray[np.float64],
    observations: npt.NDArray[np.float64],
    terminated: npt.NDArray[np.bool_],
    truncated: npt.NDArray[np.bool_],
) -> int:
    """Add a tick of many cars, and return how many still run.

    Args:
        counts, ways, lap_ticks, clean: What is counted of every car.
        cars: The car of each row of the arguments that follow.
        running: Whether each of them still runs; updated.
        infos, rewards, actions, observations, terminated, truncated: The tick that they have driven.
    """
    left = 0
    for row in range(len(cars)):
        if running[row]:
            index = cars[row]
            car = counts[index]
            is_over = count_tick(
                car,
                ways[index],
                lap_ticks[index],
                clean[index],
                infos[row],
                rewards[row],
                actions[row],
                observations[row],
            )
            car.was_cut = truncated[row]
            is_ended = terminated[row] or truncated[row]
            running[row] = not (is_over or is_ended)
            # Where it was before its first tick is unknown, so of a car that never moved the game's own count tells.
            if is_ended and not car.is_stalled and infos[row].stillnessCounter >= STALL_TICKS:
                car.stalls += 1
            left += int(running[row])
    return left


class Tally:
    """The counts of many episodes, each of one car.

    Attributes:
        counts: (N,) COUNTS_DTYPE.
    """

    def __init__(self, episodes: Sequence[Episode], patience: Sequence[int]) -> None:
        """Begin to count episodes from nothing.

        Args:
            episodes: The episodes, which say what is asked of them.
            patience: Most ticks that a lap may take, for each.
        """
        self._episodes = episodes
        most = max(episode.laps_asked for episode in episodes)
        self.counts: npt.NDArray[np.void] = np.zeros(len(episodes), COUNTS_DTYPE)
        self.counts["laps_asked"] = [episode.laps_asked for episode in episodes]
        self.counts["length"] = [episode.length or ASSUMED_LENGTH for episode in episodes]
        self.counts["patience"] = patience
        self._ways = np.zeros((len(episodes), STALL_TICKS))
        self._lap_ticks = np.zeros((len(episodes), most), np.int64)
        self._clean = np.zeros((len(episodes), most), np.bool_)
        self._count: Callable[..., int] | None = None

    def add(self, cars: npt.NDArray[np.int64], running: npt.NDArray[np.bool_], *driven: Any) -> int:
        """Add a tick, and return how many cars still run; see ``count_cars``."""
        arguments = (self.counts, self._ways, self._lap_ticks, self._clean, cars, running, *driven)
        if self._count is None:
            self._count = entry_point(count_cars, arguments)
        return self._count(*arguments)

    @property
    def laps(self) -> int:
        """Laps completed by all."""
        return int(self.counts["laps"].sum())

    def settle(self) -> None:
        """Write what was counted into the episodes."""
        for car, episode in enumerate(self._episodes):
            counts = self.counts[car]
            laps = int(counts["laps"])
            for name in _COUNTED:
                setattr(episode, name, int(counts[name]))
            episode.reward, episode.was_cut = float(counts["reward"]), bool(counts["was_cut"])
            episode.lap_ticks, episode.clean = self._lap_ticks[car, :laps].tolist(), self._clean[car, :laps].tolist()
            steering = {name: int(counts[name]) for name in _COUNTED_STEERING}
            episode.steering = Steering(**steering, total_change=float(counts["total_change"]))


def compile_kernels() -> None:
    """Compile, or load, what counts: for the types that every evaluation has."""
    one, numbers = np.ones(1, np.bool_), np.zeros((1, OBSERVATION_SIZE))
    driven = (np.zeros(1, INFO_DTYPE), numbers[:, 0], numbers[:, :ACTION_SIZE], numbers, ~one, ~one)
    Tally([Episode("", 1)], [1]).add(np.zeros(1, np.int64), one, *map(np.ascontiguousarray, driven))
