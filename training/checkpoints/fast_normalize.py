"""VecNormalize in compiled code: one pass over a step's observations, where NumPy takes a dozen calls."""

from typing import Any

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import VecNormalize
from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn

from racer_env.contract import OBSERVATION_SIZE
from racer_env.simulator.compile_cache import cached_njit


@cached_njit()
def update_moments(
    values: npt.NDArray[np.float64], mean: npt.NDArray[np.float64], variance: npt.NDArray[np.float64], count: float
) -> float:
    """Take values (N, K) into running means and variances (K,), and return the new count.

    Source: Chan, Golub and LeVeque (1979), "Updating formulae and a pairwise algorithm for computing sample variances".
    """
    rows = len(values)
    total = count + rows
    for column in range(len(mean)):
        own_mean = 0.0
        for row in range(rows):
            own_mean += values[row, column]
        own_mean /= rows
        squares = 0.0
        for row in range(rows):
            squares += (values[row, column] - own_mean) ** 2
        delta = own_mean - mean[column]
        mean[column] += delta * rows / total
        variance[column] = (variance[column] * count + squares + delta**2 * count * rows / total) / total
    return total


@cached_njit()
def scaled(
    values: npt.NDArray[np.float32],
    mean: npt.NDArray[np.float64],
    variance: npt.NDArray[np.float64],
    epsilon: float,
    clip: float,
) -> npt.NDArray[np.float32]:
    """Return values (N, K) without their means, in deviations, within ``clip``."""
    result = np.empty_like(values)
    deviations = np.sqrt(variance + epsilon)
    for row in range(len(values)):
        for column in range(len(mean)):
            result[row, column] = min(max((values[row, column] - mean[column]) / deviations[column], -clip), clip)
    return result


class FastNormalize(VecNormalize):
    """VecNormalize for observations that are one array; its file is that of a plain VecNormalize."""

    def step_wait(self) -> VecEnvStepReturn:
        """Step, and normalise observations and rewards with what has been seen so far, this step included."""
        if not (self.training and self.norm_obs):
            return super().step_wait()
        observations: Any
        observations, rewards, dones, infos = self.venv.step_wait()
        self.old_obs, self.old_reward = observations, rewards
        moments: Any = self.obs_rms
        moments.count = update_moments(observations, moments.mean, moments.var, float(moments.count))
        result = scaled(observations, moments.mean, moments.var, self.epsilon, self.clip_obs)
        self.returns = self.returns * self.gamma + rewards
        _take_in(self.ret_rms, self.returns)
        rewards = self.normalize_reward(rewards)
        for car in np.flatnonzero(dones).tolist():
            if "terminal_observation" in infos[car]:
                infos[car]["terminal_observation"] = self.normalize_obs(infos[car]["terminal_observation"])
        self.returns[dones] = 0.0
        return result, rewards, dones, infos

    def save(self, save_path: str) -> None:
        """Save what a plain VecNormalize would, so that the file opens without this project."""
        plain = object.__new__(VecNormalize)
        vars(plain).update(vars(self))
        plain.save(save_path)


def _take_in(moments: RunningMeanStd, values: npt.NDArray[np.float64]) -> None:
    mean, variance = np.array([moments.mean]), np.array([moments.var])
    moments.count = update_moments(values[:, None], mean, variance, float(moments.count))
    moments.mean, moments.var = mean[0], variance[0]


def compile_kernels() -> None:
    """Compile, or load, what a step of training calls."""
    moments, values = np.ones(OBSERVATION_SIZE), np.zeros((1, OBSERVATION_SIZE), np.float32)
    update_moments(values, moments, moments.copy(), 1.0)
    scaled(values, moments, moments, 1.0, 1.0)
    _take_in(RunningMeanStd(shape=()), np.zeros(1))
