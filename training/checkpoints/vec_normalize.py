"""Statistics in and out of stable-baselines3's VecNormalize."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from training.checkpoints.statistics import Statistics


def observation_moments(env: VecNormalize) -> RunningMeanStd:
    """Return the mean and variance of the observations, which are a single array here, not a dictionary."""
    moments: Any = env.obs_rms
    result: RunningMeanStd = moments
    return result


def statistics_of(env: VecNormalize) -> Statistics:
    """Return what an environment has learnt about its observations and rewards so far."""
    observations, returns = observation_moments(env), env.ret_rms
    return Statistics(
        obs_mean=tuple(observations.mean.tolist()),
        obs_var=tuple(observations.var.tolist()),
        clip_obs=float(env.clip_obs),
        epsilon=float(env.epsilon),
        obs_count=float(observations.count),
        return_mean=float(returns.mean),
        return_var=float(returns.var),
        return_count=float(returns.count),
        clip_reward=float(env.clip_reward),
        gamma=float(env.gamma),
        norm_reward=bool(env.norm_reward),
    )


def normalised(cars: VecEnv, statistics: Statistics) -> VecNormalize:
    """Wrap cars in an environment that goes on with statistics; sums of rewards begin at 0, as after a reset."""
    env = VecNormalize(
        cars,
        norm_reward=statistics.norm_reward,
        clip_obs=statistics.clip_obs,
        clip_reward=statistics.clip_reward,
        gamma=statistics.gamma,
        epsilon=statistics.epsilon,
    )
    observations, returns = observation_moments(env), env.ret_rms
    observations.mean, observations.var = np.array(statistics.obs_mean), np.array(statistics.obs_var)
    returns.mean, returns.var = np.array(statistics.return_mean), np.array(statistics.return_var)
    observations.count, returns.count = statistics.obs_count, statistics.return_count
    return env


def write_document(env: VecNormalize, path: str) -> None:
    """Write statistics as JSON, for people and for other languages."""
    Path(path).write_text(json.dumps(statistics_of(env).document(), indent=2) + "\n", encoding="utf-8")
