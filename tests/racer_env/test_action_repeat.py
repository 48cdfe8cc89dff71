"""Holding actions: sums, ends, crossings, and what a car does after an episode that ended in between."""

from typing import Any

import numpy as np
import pytest

from racer_env.config import AiConfig
from racer_env.contract import EpisodeLimits
from racer_env.errors import ConfigError
from racer_env.vec_env import RacerVecEnv
from tests.helpers import TEST_CONFIG, random_actions
from training.drivers.scripted import scripted_driver

pytestmark = pytest.mark.timeout(60)  # on a busy machine

CARS = 5


def make(repeat: int, config: AiConfig = TEST_CONFIG, **options: Any) -> RacerVecEnv:
    """Return cars on two tracks."""
    return RacerVecEnv(["track-01", "track-02"], CARS, config, action_repeat=repeat, **options)


def test_a_decision_is_the_sum_of_its_ticks(engine_url: str) -> None:
    """Reward and components are sums, contact is any, the rest and the observation are of the last tick."""
    held, single = make(3, bridge_url=engine_url), make(1, bridge_url=engine_url)
    held.reset()
    single.reset()
    for actions in random_actions(1, 40, CARS):
        observations, rewards, dones, infos = held.step(actions)
        ticks = [single.step(actions) for _ in range(3)]
        assert np.array_equal(observations, ticks[-1][0])
        assert rewards == pytest.approx(sum(tick[1].astype(float) for tick in ticks), abs=1e-6)
        assert not dones.any()
        for car, info in enumerate(infos):
            of_car = [tick[3][car] for tick in ticks]
            for key in ("progress", "speed", "wall", "offTrack", "backward", "stillness"):
                assert info[key] == pytest.approx(sum(tick[key] for tick in of_car), abs=1e-12)
            for key in ("tick", "rawSpeed", "lap", "checkpoint", "stepCount", "stillnessCounter"):
                assert info[key] == of_car[-1][key]
            assert info["wallContact"] == any(tick["wallContact"] for tick in of_car)
    held.close()
    single.close()


def test_an_end_in_between_ends_the_decision(engine_url: str) -> None:
    """The terminal observation is that of the last tick, and nothing of the next episode counts."""
    limits = AiConfig(TEST_CONFIG.weights, EpisodeLimits(max_steps=10, stillness_timeout_ticks=1000))
    held, single = make(4, limits, bridge_url=engine_url), make(1, limits, bridge_url=engine_url)
    held.reset()
    single.reset()
    actions = np.tile([0.2, 1.0, 0.0], (CARS, 1))
    steps = [held.step(actions) for _ in range(3)]
    ticks = [single.step(actions) for _ in range(10)]
    assert [step[2].any() for step in steps] == [False, False, True]
    assert steps[2][2].all()
    assert steps[2][1] == pytest.approx(ticks[8][1].astype(float) + ticks[9][1], abs=1e-6)
    assert not steps[2][0][:, 9].any()  # at rest on the line: the old action no longer drives
    for car, info in enumerate(steps[2][3]):
        assert info["TimeLimit.truncated"]
        assert info["stepCount"] == 10
        assert np.array_equal(info["terminal_observation"], ticks[9][3][car]["terminal_observation"])
        assert info["progress"] == pytest.approx(sum(tick[3][car]["progress"] for tick in ticks[8:10]), abs=1e-12)
    after = held.step(actions)[3]
    assert all(info["stepCount"] == 2 + 4 for info in after)  # it coasted for the two ticks that were left
    held.close()
    single.close()


def test_a_crossing_names_its_tick() -> None:
    """``lapStepCount`` is the step count of the tick on which the lap changed, and is there only then."""
    held, single = make(4), make(1)
    observations: Any = held.reset()
    single.reset()
    crossings, expected, laps = [], [], [1] * CARS
    for _ in range(300):
        actions = scripted_driver(observations)
        observations, _, _, infos = held.step(actions)
        crossings += [(car, info["lapStepCount"]) for car, info in enumerate(infos) if "lapStepCount" in info]
        for _ in range(4):
            for car, info in enumerate(single.step(actions)[3]):
                if info["lap"] != laps[car]:
                    expected.append((car, info["stepCount"]))
                    laps[car] = info["lap"]
    assert len(expected) >= 4
    assert sorted(crossings) == sorted(expected)


def test_a_new_episode_is_no_crossing() -> None:
    """An episode that ended on a later lap than the next one begins on is not mistaken for one."""
    env = RacerVecEnv(["track-01"], 1, AiConfig(episode=EpisodeLimits(max_steps=700)), action_repeat=3)
    observations: Any = env.reset()
    named = []
    for _ in range(500):
        observations, _, _, infos = env.step(scripted_driver(observations))
        named += [(info["lap"], info["lapStepCount"]) for info in infos if "lapStepCount" in info]
    assert len(named) >= 2
    assert {lap for lap, _ in named} == {2}


def test_episodes_shorter_than_a_decision_end_with_their_own_observation() -> None:
    """What coasting cars see at the end of further episodes is of no decision."""
    limits = AiConfig(TEST_CONFIG.weights, EpisodeLimits(max_steps=1))
    held, single = make(4, limits), make(1, limits)
    held.reset()
    single.reset()
    actions = np.tile([0.7, 1.0, 0.0], (CARS, 1))
    for info, expected in zip(held.step(actions)[3], single.step(actions)[3], strict=True):
        assert np.array_equal(info["terminal_observation"], expected["terminal_observation"])


@pytest.mark.parametrize("repeat", [0, -1, 61])
def test_other_repeats_are_refused(repeat: int) -> None:
    """A repeat is a number of ticks from 1 to a second."""
    with pytest.raises(ConfigError, match=r"action_repeat must be within \[1, 60\] ticks"):
        make(repeat)
