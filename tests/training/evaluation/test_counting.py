"""How smoothly a driver steers, and where it stalls, on crafted drives."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from racer_env.contract import INFO_DTYPE, OBSERVATION_SIZE, OBSERVED_ARC_LENGTH, OBSERVED_STEER
from training.evaluation.counting import Tally
from training.evaluation.episode import Episode


def counted(
    commands: Sequence[float] = (), wheels: Sequence[float] = (), shares: Sequence[float] = (), **more: Sequence[float]
) -> Episode:
    """Return what is counted of a car on a track of 1,000 units; what is not given is 0, and it is in its first lap."""
    ticks = max(map(len, (commands, wheels, shares, *more.values())))
    infos = np.zeros(ticks, INFO_DTYPE)
    infos["lap"] = 1
    for name, values in more.items():
        infos[name] = values
    actions, observations = np.zeros((ticks, 3)), np.zeros((ticks, OBSERVATION_SIZE))
    actions[: len(commands), 0] = commands
    observations[: len(wheels), OBSERVED_STEER] = wheels
    observations[: len(shares), OBSERVED_ARC_LENGTH] = np.mod(shares, 1.0)
    episode = Episode("t", 3, length=1000.0)
    tally, running, never = Tally([episode], [10_000]), np.ones(1, np.bool_), np.zeros(1, np.bool_)
    for tick in (slice(tick, tick + 1) for tick in range(ticks)):
        driven = (infos[tick], np.ones(1), actions[tick], observations[tick])
        tally.add(np.zeros(1, np.int64), running, *driven, never, never)
    tally.settle()
    return episode


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ([0.5, -0.5, 0.5, -0.5], 3),
        ([0.04, -0.04, 0.04], 0),
        ([0.5, -0.04, 0.5], 0),
        ([0.5, 0.0, 0.0, -0.06], 1),
        ([0.0, 0.3, 0.0, 0.3], 0),
    ],
)
def test_sign_changes_have_a_hysteresis(values: list[float], count: int) -> None:
    """What does not leave the middle by 0.05 has not changed sides."""
    assert counted(commands=values).steering.command_changes == count
    assert counted(wheels=values).steering.wheel_changes == count


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ([0.0, 0.2, 0.4, 0.2, 0.0, 0.3], 2),
        ([0.0, 0.2, 0.16, 0.4, 0.36, 0.6], 0),
        ([0.5, 0.5, 0.5], 0),
        ([0.0, 0.04, 0.08, 0.12, 0.08, 0.04, 0.0], 1),
        ([0.0, -0.1, 0.1, -0.1], 2),
    ],
)
def test_reversals_have_a_hysteresis(values: list[float], count: int) -> None:
    """What turns back by less than 0.05 has not turned; a slow turn counts as a quick one does."""
    assert counted(commands=values).steering.reversals == count


def test_a_stall_is_counted_once() -> None:
    """Less than 3 units in 3 seconds, for however long; and again after it got on."""
    stands = [0.3] * 400
    moves = [0.3 + 0.001 * tick for tick in range(200)]
    assert counted(shares=stands).stalls == 1
    assert counted(shares=stands[:170]).stalls == 0
    assert counted(shares=moves).stalls == 0
    assert counted(shares=stands + moves + [0.499] * 300).stalls == 2


def test_crossing_the_line_is_no_stall() -> None:
    """The share falls from 1 to 0, and the car has moved on; to and fro is standing still."""
    assert counted(shares=[0.9 + 0.001 * tick for tick in range(400)]).stalls == 0
    assert counted(shares=[0.5 + 0.001 * math.sin(tick) for tick in range(200)]).stalls == 1


def test_steering_beyond_the_limits_is_what_the_game_makes_of_it() -> None:
    """Commands are cut to their bounds."""
    steering = counted(commands=(3.0, 1.0, -1.0, 0.0), wheels=(0.1, 0.2, 0.0, -0.1)).steering
    assert steering.total_change == pytest.approx(0 + 2 + 1)
    assert (steering.command_changes, steering.wheel_changes, steering.reversals) == (1, 1, 1)


def test_laps_are_timed_from_line_to_line() -> None:
    """A wall spoils the lap on which it is touched; after a start elsewhere, the first crossing begins."""
    laps, walls = [0] * 5 + [1] * 10 + [2] * 20 + [3], [True] * 3 + [False] * 20 + [True] + [False] * 12
    episode = counted(lap=laps, wallContact=walls)
    assert (episode.lap_ticks, episode.clean, episode.wall_ticks) == ([10, 20], [True, False], 4)
    assert (episode.ticks_before, episode.steps, episode.reward) == (6, 36, 36.0)
