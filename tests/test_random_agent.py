"""A random agent over many episodes: nothing breaks, whatever it does."""

import math
from collections import Counter

import numpy as np

from racer_env.env import RacerEnv
from racer_env.spaces import REWARD_KEYS
from tests.helpers import TRACK_IDS, random_actions, with_limits

EPISODES = 100
MAX_STEPS = 120
STARTS = ("standing", "random")


def test_hundred_random_episodes() -> None:
    """Every observation is in the space and every component finite, and each episode ends as it should."""
    env = RacerEnv(config=with_limits(MAX_STEPS, stillness_timeout_ticks=30))
    ends: Counter[str] = Counter()
    for episode in range(EPISODES):
        options = {"track_id": TRACK_IDS[episode % 3], "start": STARTS[episode % 2]}
        observation, _ = env.reset(seed=episode, options=options)
        assert env.observation_space.contains(observation)
        actions = random_actions(episode, MAX_STEPS) if episode % 5 else np.zeros((MAX_STEPS, 3))
        for action in actions:
            observation, reward, terminated, truncated, info = env.step(action)
            assert env.observation_space.contains(observation)
            assert all(math.isfinite(info[key]) for key in REWARD_KEYS)
            assert math.isfinite(reward)
            if terminated or truncated:
                break
        assert truncated == (info["stepCount"] == MAX_STEPS)
        assert terminated == (info["stillnessCounter"] == 30)
        ends["terminated" if terminated else "truncated"] += 1
    assert ends["terminated"] >= 5
    assert ends["truncated"] >= 50
