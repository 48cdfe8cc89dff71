"""What training adds to the game, below the normalisation; its physics, observation and reward stay the same."""

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
from racer_env.vec_env import RacerVecEnv
from training.algorithms.settings import Settings

PACE = 100.0  # units/s; a tick's progress reward at this pace is the unit of the penalties


def training_config(config: AiConfig, settings: Settings) -> AiConfig:
    """Return weights and limits for training: driving off the road may cost more, and episodes may be shorter."""
    penalty = config.weights.off_track_penalty + settings.extra_off_track_penalty
    weights = dataclasses.replace(config.weights, off_track_penalty=penalty)
    limit = min(config.episode.max_steps, settings.episode_ticks)
    return AiConfig(weights, dataclasses.replace(config.episode, max_steps=limit))


class OffRoadCost(VecEnvWrapper):
    """Subtracts a cost for every tick off the road from the reward; what the infos say of it stays the game's.

    Attributes:
        weight: Cost of a tick from the next step on, in units of the progress reward of one tick at PACE.
    """

    def __init__(self, venv: VecEnv, cost: float, reward_per_unit: npt.ArrayLike, penalty: float) -> None:
        """Wrap the cars of a vector environment.

        Args:
            venv: The cars, a ``RacerVecEnv`` with or without wrappers.
            cost: Cost of a tick, in units of the progress reward of one tick at PACE.
            reward_per_unit: Reward per unit of progress, for all cars or for each (N,).
            penalty: Weight of a tick off the road in the rewards of the cars; not 0, as it tells these ticks.
        """
        super().__init__(venv)
        cars = venv.unwrapped
        assert isinstance(cars, RacerVecEnv)
        self._cars = cars
        self.weight = cost
        self._unit = np.asarray(PACE / TICKS_PER_SECOND * np.asarray(reward_per_unit) / penalty, np.float32)

    def reset(self) -> VecEnvObs:
        """Begin an episode for every car."""
        return self.venv.reset()

    def step_wait(self) -> VecEnvStepReturn:
        """Advance the cars, and subtract the cost."""
        observations, rewards, dones, infos = self.venv.step_wait()
        punished = self._cars.step_records["offTrack"].astype(np.float32)
        return observations, rewards - self.weight * self._unit * punished, dones, infos


class SmoothSteering(VecEnvWrapper):
    """Subtracts a penalty for every change of the steering from the reward.

    The penalty is ``weight`` times the square of the change, in units of the progress reward of one tick at PACE.

    Attributes:
        weight: Weight of the penalty from the next step on.
    """

    def __init__(self, venv: VecEnv, weight: float, reward_per_unit: npt.ArrayLike) -> None:
        """Wrap the cars of a vector environment.

        Args:
            venv: The cars to wrap.
            weight: Weight of the penalty.
            reward_per_unit: Reward per unit of progress, for all cars or for each (N,).
        """
        super().__init__(venv)
        self.weight = weight
        self._unit = PACE / TICKS_PER_SECOND * np.asarray(reward_per_unit, dtype=np.float32)
        self._before = np.zeros(venv.num_envs, np.float32)
        self._steer = self._before

    def reset(self) -> VecEnvObs:
        """Begin an episode for every car, with the steering centred."""
        self._before = np.zeros(self.num_envs, np.float32)
        return self.venv.reset()

    def step_async(self, actions: npt.NDArray[np.floating]) -> None:
        """Take the actions (N, 3) of the next step."""
        self._steer = np.clip(np.asarray(actions, dtype=np.float32)[:, STEER], -1.0, 1.0)
        self.venv.step_async(actions)

    def step_wait(self) -> VecEnvStepReturn:
        """Advance the cars, and subtract the penalty."""
        observations, rewards, dones, infos = self.venv.step_wait()
        rewards = rewards - self.weight * self._unit * np.square(self._steer - self._before)
        self._before = np.where(dones, np.float32(0.0), self._steer)
        return observations, rewards, dones, infos


class Withheld(VecEnvWrapper):
    """Hides some values of the observation from a driver, by showing 0."""

    def __init__(self, venv: VecEnv, places: Sequence[int]) -> None:
        super().__init__(venv)
        self._places = list(places)

    def reset(self) -> VecEnvObs:
        """Begin an episode for every car."""
        observations: VecEnvObs = self._without(self.venv.reset())
        return observations

    def step_wait(self) -> VecEnvStepReturn:
        """Advance the cars."""
        observations, rewards, dones, infos = self.venv.step_wait()
        for car in np.flatnonzero(dones):
            infos[car]["terminal_observation"] = self._without(infos[car]["terminal_observation"])
        return self._without(observations), rewards, dones, infos

    def _without(self, observations: Any) -> Any:
        observations[..., self._places] = 0.0
        return observations


def make_indifferent(model: BaseAlgorithm, place: int) -> None:
    """Make a model's networks ignore one value of the observation, permanently.

    A value that is never shown has no gradient, so weights of 0 stay 0: the finished driver takes the full observation
    and ignores that value.
    """
    assert model.observation_space.shape is not None
    size = model.observation_space.shape[0]
    with torch.no_grad():
        for part in model.policy.modules():
            layers = [layer for layer in part.children() if isinstance(layer, torch.nn.Linear)]
            # A first layer takes the observation; a critic's also takes the action.
            if isinstance(part, torch.nn.Sequential) and layers and layers[0].in_features in (size, size + ACTION_SIZE):
                layers[0].weight[:, place] = 0.0
