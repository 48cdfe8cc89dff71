"""A wrapper of the user's own around the cars of training."""

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from racer_env.errors import BridgeError, OwnCodeError
from training.console.messages import say
from training.runs.brought import Brought
from training.runs.own_code import named

# What comes from below a wrapper, and is not its fault: the bridge's errors, and those of a reward of the user's.
_FROM_BELOW = (BridgeError, OwnCodeError)


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
        if "num_envs" not in vars(made):
            raise OwnCodeError(f"the wrapper {wrapper.name} must call super().__init__(venv) in its __init__")
        for name in ("num_envs", "observation_space", "action_space"):
            was, now = getattr(cars, name), getattr(made, name)
            if was != now:
                raise OwnCodeError(
                    f"the wrapper {wrapper.name} changes {name} from {was} to {now}; a driver is evaluated and "
                    "exported without it, so it has to take the game's observations and actions"
                )
        return _Checked(made, wrapper, cars)


def _named(wrapper: Brought, *passing: type[BaseException]) -> contextlib.AbstractContextManager[None]:
    return named(f"the wrapper {wrapper.name}", wrapper.file, passing=(*_FROM_BELOW, *passing))


class _Checked(VecEnvWrapper):
    """Checks what a wrapper of the user's returns, and names it in what it raises."""

    def __init__(self, venv: VecEnv, wrapper: Brought, cars: VecEnv) -> None:
        self._wrapper = wrapper
        self._cars = cars
        super().__init__(venv)
        self._shape = (self.num_envs, *(self.observation_space.shape or ()))

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        with _named(self._wrapper):
            return self.venv.seed(seed)

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        with _named(self._wrapper, AttributeError):  # which tells who asks that there is none
            return self.venv.get_attr(attr_name, indices)

    def reset(self) -> VecEnvObs:
        with _named(self._wrapper):
            observations = self.venv.reset()
            self._check("observations", observations, self._shape, "f")
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        with _named(self._wrapper):
            self.venv.step_async(actions)

    def step_wait(self) -> VecEnvStepReturn:
        with _named(self._wrapper):
            observations, rewards, dones, infos = self.venv.step_wait()
            self._check("observations", observations, self._shape, "f")
            self._check("rewards", rewards, (self.num_envs,), "fiub")
            self._check("dones", dones, (self.num_envs,), "b")
            self._check_infos(infos, dones)
        return observations, rewards, dones, infos

    def close(self) -> None:
        """Close the cars, whatever the wrapper does about it; what was trained is saved by then."""
        try:
            with named(f"closing the wrapper {self._wrapper.name}", self._wrapper.file, passing=(BridgeError,)):
                self.venv.close()
        except OwnCodeError as error:
            say(f"warning: {error}; what was trained is not affected")
        finally:
            self._cars.close()

    def _check_infos(self, infos: Any, dones: np.ndarray) -> None:
        if len(infos) != self.num_envs:
            raise self._fault("infos", f"{self.num_envs} of them", len(infos))
        if not all(isinstance(info, dict) for info in infos):
            raise self._fault("infos", "a dict for each car", infos)
        for car in np.flatnonzero(dones).tolist():
            if "terminal_observation" in infos[car]:
                self._check("terminal observations", infos[car]["terminal_observation"], self._shape[1:], "f")

    def _check(self, what: str, values: Any, shape: tuple[int, ...], kinds: str) -> None:
        """Refuse what is no array of a shape and of one of NumPy's kinds of numbers, or is not finite."""
        if not isinstance(values, np.ndarray) or values.shape != shape or values.dtype.kind not in kinds:
            numbers = {"f": "floats", "b": "truth values"}.get(kinds, "numbers")
            is_array = isinstance(values, np.ndarray)
            got = f"{values.dtype} of shape {values.shape}" if is_array else values
            raise self._fault(what, f"an array of {numbers} of shape {shape}", got)
        if not np.isfinite(values).all():
            raise self._fault(what, "finite numbers", values[~np.isfinite(values)][0])

    def _fault(self, what: str, expected: str, got: Any) -> OwnCodeError:
        return OwnCodeError(f"the wrapper {self._wrapper.name} must return {what}, {expected}, got {got!s:.60}")
