"""A reward of the user's own in the place of the game's: a Python function, called once a step for all cars."""

import inspect
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper, unwrap_vec_wrapper
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from racer_env.contract import ACTION_SIZE
from racer_env.errors import OwnCodeError
from racer_env.vec_env import RacerVecEnv
from training.runs.brought import Brought
from training.runs.own_code import named
from training.runs.reward_function import reward_function

Rewards = npt.NDArray[np.float32]


class Before(NamedTuple):
    """What was before a step of N cars, for rewards that compare.

    Attributes:
        observations: (N, 14) float32, on which the step's actions were chosen.
        actions: (N, 3) float32, those of the step before; 0 in the first step of an episode.
        begins: (N,) bool, whether the step is the first one of a car's episode.
    """

    observations: npt.NDArray[np.float32]
    actions: npt.NDArray[np.float32]
    begins: npt.NDArray[np.bool_]


class OwnReward(VecEnvWrapper):
    """Pays what a function of the user's returns.

    Its arrays cannot be written to, and are no longer used elsewhere, so it may keep them.

    Attributes:
        paid: Rewards (N,) of the last step.
    """

    def __init__(self, venv: VecEnv, reward: Brought) -> None:
        """Wrap cars.

        Args:
            venv: The cars, a ``RacerVecEnv`` with or without wrappers.
            reward: The function.

        Raises:
            ConfigError: It takes other arguments.
        """
        super().__init__(venv)
        cars = venv.unwrapped
        assert isinstance(cars, RacerVecEnv)
        self.paid: Rewards = np.zeros(self.num_envs, np.float32)
        self._cars = cars
        self._reward = reward
        self._function = reward_function(reward)
        self._before: Before | None = None
        self._actions = np.zeros((self.num_envs, ACTION_SIZE), np.float32)

    def reset(self) -> VecEnvObs:
        """Begin an episode for every car."""
        observations = self.venv.reset()
        actions = np.zeros((self.num_envs, ACTION_SIZE), np.float32)
        self._before = Before(_fixed(observations), _fixed(actions), _fixed(np.ones(self.num_envs, np.bool_)))
        return observations

    def step_async(self, actions: npt.NDArray[np.floating]) -> None:
        """Take the actions (N, 3) of the next step."""
        self._actions = np.array(actions, np.float32)
        self.venv.step_async(actions)

    def step_wait(self) -> VecEnvStepReturn:
        """Advance the cars, and replace their rewards."""
        observations, rewards, dones, infos = self.venv.step_wait()
        assert isinstance(observations, np.ndarray)
        reached = observations.copy()
        for car in np.flatnonzero(dones):
            reached[car] = infos[car]["terminal_observation"]
        records = self._cars.step_records
        # By way of bytes, which cannot be written to either: NumPy copies records a hundred times more slowly.
        fixed_records = np.frombuffer(records.tobytes(), records.dtype)
        given = (_fixed(reached), fixed_records, _fixed(self._actions), _fixed(rewards))
        try:
            with named(f"the reward {self._reward.name}", self._reward.file):
                result = self._function(*given, before=self._before)
        except OwnCodeError as error:
            if "read-only" not in str(error):
                raise
            raise OwnCodeError(f"{error}; its arrays are not to be changed, make new ones") from error.__cause__
        self.paid = self._checked(result)
        actions = np.where(dones[:, None], np.float32(0.0), self._actions)
        self._before = Before(_fixed(observations), _fixed(actions), _fixed(dones))
        return observations, self.paid, dones, infos

    def _checked(self, result: Any) -> Rewards:
        if inspect.iscoroutine(result):
            result.close()  # or Python warns that nobody waits for it
        with named(f"the result of the reward {self._reward.name}", self._reward.file):
            try:
                paid = np.asarray(result)
            except Exception:  # lists of unequal lengths, tensors elsewhere
                paid = np.asarray(None)
        if paid.dtype.kind not in "fiu" or paid.shape != (self.num_envs,):
            got = f"{paid.dtype} of shape {paid.shape}" if paid.dtype.kind != "O" else type(result).__name__
            raise OwnCodeError(
                f"the reward {self._reward.name} must return a number for each car, of shape ({self.num_envs},), got "
                f"{got}"
            )
        with np.errstate(over="ignore"):
            rewards = paid.astype(np.float32)
        if not np.isfinite(rewards).all():
            car = int(np.flatnonzero(~np.isfinite(rewards))[0])
            raise OwnCodeError(
                f"the reward {self._reward.name} must return finite numbers, got {paid[car]} for car {car}"
            )
        return rewards


def _fixed(values: Any) -> Any:
    """Return a copy of an array that cannot be written to."""
    copy = np.array(values)
    copy.flags.writeable = False
    return copy


class OwnRewardCallback(BaseCallback):
    """Logs what an own reward pays as ``reward/own``, the mean over the cars on every step."""

    def _on_step(self) -> bool:
        paying = unwrap_vec_wrapper(self.training_env, OwnReward)
        if paying is not None:
            self.logger.record_mean("reward/own", float(np.mean(paying.paid)))
        return True
