"""What training adds to the game, below the normalisation; its physics, observation and reward stay as they are."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from racer_env.config import AiConfig
from racer_env.contract import ACTION_SIZE, STEER, TICKS_PER_SECOND
from training.algorithms.settings import Settings

PACE = 100.0  # units/s; what a tick at it earns is the measure of the penalty


def training_config(config: AiConfig, settings: Settings) -> AiConfig:
    """Return weights and limits for training: being off the road may cost more, and episodes may be shorter."""
    weights = dataclasses.replace(
        config.weights, off_track_penalty=config.weights.off_track_penalty + settings.extra_off_track_penalty
    )
    limit = min(config.episode.max_steps, settings.episode_ticks)
    return AiConfig(weights, dataclasses.replace(config.episode, max_steps=limit))


class SmoothSteering(VecEnvWrapper):
    """Takes a penalty for every change of the steering command off the reward.

    It is ``weight`` times the square of the change, in units of what a tick at PACE earns by its progress.

    Attributes:
        weight: From the next step on.
    """

    def __init__(self, venv: VecEnv, weight: float, reward_per_unit: npt.ArrayLike) -> None:
        """Wrap.

        Args:
            venv: The cars.
            weight: Of the penalty.
            reward_per_unit: Of progress, for all cars or for each (N,).
        """
        super().__init__(venv)
        self.weight = weight
        self._unit = PACE / TICKS_PER_SECOND * np.asarray(reward_per_unit, dtype=np.float32)
        self._before = np.zeros(venv.num_envs, np.float32)
        self._steer = self._before

    def reset(self) -> VecEnvObs:
        """Begin an episode for every car; the steering begins in the middle."""
        self._before = np.zeros(self.num_envs, np.float32)
        return self.venv.reset()

    def step_async(self, actions: npt.NDArray[np.floating]) -> None:
        """Take the actions."""
        self._steer = np.clip(np.asarray(actions, dtype=np.float32)[:, STEER], -1.0, 1.0)
        self.venv.step_async(actions)

    def step_wait(self) -> VecEnvStepReturn:
        """Drive, and take the penalty off."""
        observations, rewards, dones, infos = self.venv.step_wait()
        rewards = rewards - self.weight * self._unit * np.square(self._steer - self._before)
        self._before = np.where(dones, np.float32(0.0), self._steer)
        return observations, rewards, dones, infos


class Withheld(VecEnvWrapper):
    """Shows a driver nothing in some places of the observation."""

    def __init__(self, venv: VecEnv, places: Sequence[int]) -> None:
        super().__init__(venv)
        self._places = list(places)

    def reset(self) -> VecEnvObs:
        """Begin an episode for every car."""
        observations: VecEnvObs = self._without(self.venv.reset())
        return observations

    def step_wait(self) -> VecEnvStepReturn:
        """Drive."""
        observations, rewards, dones, infos = self.venv.step_wait()
        for car in np.flatnonzero(dones):
            infos[car]["terminal_observation"] = self._without(infos[car]["terminal_observation"])
        return self._without(observations), rewards, dones, infos

    def _without(self, observations: Any) -> Any:
        observations[..., self._places] = 0.0
        return observations


def make_indifferent(model: BaseAlgorithm, place: int) -> None:
    """Make a model's networks indifferent to a place of the observation, for good.

    What is never shown has no gradient, so weights that are 0 stay 0: the finished driver takes the full observation
    and does not look there.
    """
    assert model.observation_space.shape is not None
    size = model.observation_space.shape[0]
    with torch.no_grad():
        for part in model.policy.modules():
            layers = [layer for layer in part.children() if isinstance(layer, torch.nn.Linear)]
            # A first layer takes what is seen; a critic's what is done too.
            if isinstance(part, torch.nn.Sequential) and layers and layers[0].in_features in (size, size + ACTION_SIZE):
                layers[0].weight[:, place] = 0.0
