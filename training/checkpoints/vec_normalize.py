"""Statistics in and out of stable-baselines3's VecNormalize."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from training.checkpoints.fast_normalize import FastNormalize
from training.checkpoints.statistics import NONE, UNCHANGED, Normalisation, Statistics


def observation_moments(env: VecNormalize) -> RunningMeanStd:
    """Return the mean and variance of the observations, which are normalised and a single array here."""
    moments: Any = env.obs_rms
    result: RunningMeanStd = moments
    return result


def statistics_of(env: VecNormalize) -> Statistics:
    """Return what an environment has learnt about its observations and rewards so far."""
    returns, observed, count = env.ret_rms, UNCHANGED, NONE.obs_count
    if env.norm_obs:
        moments = observation_moments(env)
        mean, variance = (tuple(values.tolist()) for values in (moments.mean, moments.var))
        observed, count = Normalisation(mean, variance, float(env.clip_obs), float(env.epsilon)), float(moments.count)
    return Statistics(
        **asdict(observed),
        obs_count=count,
        return_mean=float(returns.mean),
        return_var=float(returns.var),
        return_count=float(returns.count),
        clip_reward=float(env.clip_reward),
        gamma=float(env.gamma),
        norm_reward=bool(env.norm_reward),
        norm_obs=bool(env.norm_obs),
    )


def normalised(cars: VecEnv, statistics: Statistics) -> VecNormalize:
    """Wrap cars in an environment that goes on with statistics; sums of rewards begin at 0, as after a reset."""
    env = FastNormalize(
        cars,
        norm_obs=statistics.norm_obs,
        norm_reward=statistics.norm_reward,
        clip_obs=statistics.clip_obs,
        clip_reward=statistics.clip_reward,
        gamma=statistics.gamma,
        epsilon=statistics.epsilon,
    )
    returns = env.ret_rms
    returns.mean, returns.var = np.array(statistics.return_mean), np.array(statistics.return_var)
    returns.count = statistics.return_count
    if statistics.norm_obs:
        observations = observation_moments(env)
        observations.mean, observations.var = np.array(statistics.obs_mean), np.array(statistics.obs_var)
        observations.count = statistics.obs_count
    return env


def write_document(env: VecNormalize, path: str) -> None:
    """Write statistics as JSON, for people and for other languages."""
    Path(path).write_text(json.dumps(statistics_of(env).document(), indent=2) + "\n", encoding="utf-8")
