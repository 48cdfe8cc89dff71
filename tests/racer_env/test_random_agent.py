"""A random agent over many episodes: nothing breaks, whatever it does, on either engine."""

import math
import time
from collections import Counter

import numpy as np

from racer_env.contract import REWARD_COMPONENTS
from racer_env.env import RacerEnv
from tests.helpers import TRACK_IDS, random_actions, with_limits

EPISODES = 100
MAX_STEPS = 120
STARTS = ("standing", "random")


def test_hundred_random_episodes(engine_url: str) -> None:
    """Every observation is in the space, every component finite and used, and each episode ends as it should."""
    env = RacerEnv(engine_url, config=with_limits(MAX_STEPS, stillness_timeout_ticks=30))
    ends: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    latencies = []
    for episode in range(EPISODES):
        options = {"track_id": TRACK_IDS[episode % 3], "start": STARTS[episode % 2]}
        observation, _ = env.reset(seed=episode, options=options)
        assert env.observation_space.contains(observation)
        actions = random_actions(episode, MAX_STEPS) if episode % 5 else np.zeros((MAX_STEPS, 3))
        for action in actions:
            began = time.perf_counter()
            observation, reward, terminated, truncated, info = env.step(action)
            latencies.append(time.perf_counter() - began)
            assert env.observation_space.contains(observation)
            assert all(math.isfinite(info[key]) for key in REWARD_COMPONENTS)
            assert reward == sum(info[key] for key in REWARD_COMPONENTS)
            seen.update(key for key in REWARD_COMPONENTS if info[key])
            if terminated or truncated:
                break
        assert truncated == (info["stepCount"] == MAX_STEPS)
        assert terminated == (info["stillnessCounter"] == 30)
        ends["terminated" if terminated else "truncated"] += 1
    env.close()
    assert ends["terminated"] >= 5
    assert ends["truncated"] >= 50
    assert set(seen) == set(REWARD_COMPONENTS)
    p50, p99 = np.percentile(np.array(latencies) * 1e3, (50, 99))
    print(f"{len(latencies)} steps over {engine_url}: p50 {p50:.3f} ms, p99 {p99:.3f} ms")
