"""A wrapper of the user's own around the cars of training."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from racer_env.errors import OwnCodeError, RacerError
from training.runs.brought import Brought


def wrapped(cars: VecEnv, wrapper: Brought) -> VecEnv:
    """Return cars in a wrapper of the user's.

    Args:
        cars: The cars of training, with everything that training adds below the normalisation.
        wrapper: What makes a ``VecEnvWrapper`` of them.

    Raises:
        OwnCodeError: It raises an exception, makes something else, or changes what a driver sees and does.
    """
    with _named(wrapper):
        made: Any = wrapper.value(cars)
    if not isinstance(made, VecEnvWrapper):
        raise OwnCodeError(f"the wrapper {wrapper.name} must be a VecEnvWrapper, got {type(made).__name__}")
    for name in ("num_envs", "observation_space", "action_space"):
        was, now = getattr(cars, name), getattr(made, name)
        if was != now:
            raise OwnCodeError(
                f"the wrapper {wrapper.name} changes {name} from {was} to {now}; a driver is evaluated and exported "
                "without it, so it has to take the game's observations and actions"
            )
    return _Checked(made, wrapper)


@contextlib.contextmanager
def _named(wrapper: Brought) -> Iterator[None]:
    """Make one line of whatever a wrapper raises."""
    try:
        yield
    except RacerError:
        raise
    except Exception as error:
        raise OwnCodeError(f"the wrapper {wrapper.name} raised {wrapper.failure(error)}") from error


class _Checked(VecEnvWrapper):
    """Checks what a wrapper of the user's returns."""

    def __init__(self, venv: VecEnv, wrapper: Brought) -> None:
        super().__init__(venv)
        self._wrapper = wrapper

    def reset(self) -> VecEnvObs:
        with _named(self._wrapper):
            observations = self.venv.reset()
        self._check("observations", observations, self.observation_space.shape)
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        with _named(self._wrapper):
            self.venv.step_async(actions)

    def step_wait(self) -> VecEnvStepReturn:
        with _named(self._wrapper):
            observations, rewards, dones, infos = self.venv.step_wait()
        self._check("observations", observations, self.observation_space.shape)
        self._check("rewards", rewards, ())
        self._check("dones", dones, ())
        if len(infos) != self.num_envs:
            raise self._fault("infos", f"{self.num_envs} of them", len(infos))
        return observations, rewards, dones, infos

    def _check(self, what: str, values: Any, shape: tuple[int, ...] | None) -> None:
        expected = (self.num_envs, *(shape or ()))
        if not isinstance(values, np.ndarray) or values.shape != expected or values.dtype.kind not in "fiub":
            raise self._fault(what, f"an array of numbers of shape {expected}", getattr(values, "shape", values))
        if not np.isfinite(values).all():
            raise self._fault(what, "finite numbers", values[~np.isfinite(values)][0])

    def _fault(self, what: str, expected: str, got: Any) -> OwnCodeError:
        return OwnCodeError(f"the wrapper {self._wrapper.name} must return {what}, {expected}, got {got!s:.60}")
