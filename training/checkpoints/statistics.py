"""Normalisation statistics as plain numbers: what turns raw observations into those that a network takes."""

import functools
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.contract import OBSERVATION_SIZE
from racer_env.errors import ModelError
from racer_env.json_files import Checker
from training.algorithms.plain import Scaling

# Beyond these, sums and quotients of statistics overflow; what is observed lies within [-1, 1].
LEAST, MOST = 1e-30, 1e30


@dataclass(frozen=True)
class Normalisation:
    """How observations are normalised.

    Attributes:
        obs_mean: Mean of the observations, 14 numbers.
        obs_var: Their variance, 14 numbers of at least 0.
        clip_obs: Bound of normalised observations, above 0.
        epsilon: What is added to a variance before its root is taken, above 0.
    """

    obs_mean: tuple[float, ...]
    obs_var: tuple[float, ...]
    clip_obs: float
    epsilon: float

    @functools.cached_property
    def scaling(self) -> Scaling:
        """The same in arrays."""
        return Scaling(np.array(self.obs_mean), np.sqrt(np.array(self.obs_var) + self.epsilon), self.clip_obs)

    def __call__(self, observations: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return normalised observations (N, 14), bit by bit those of stable-baselines3's VecNormalize."""
        return self.scaling(observations)


@dataclass(frozen=True)
class Statistics(Normalisation):
    """Everything that training needs to go on normalising as before.

    Attributes:
        obs_count: Number of observations in mean and variance, above 0.
        return_mean, return_var, return_count: The same of the discounted rewards.
        clip_reward: Bound of normalised rewards, above 0.
        gamma: Discount of the rewards, 0 to 1.
        norm_reward: Whether rewards are normalised.
        norm_obs: Whether observations are; if not, mean and variance are such that they stay as they are.
    """

    obs_count: float
    return_mean: float
    return_var: float
    return_count: float
    clip_reward: float
    gamma: float
    norm_reward: bool = True
    norm_obs: bool = True

    def document(self) -> dict[str, Any]:
        """Return the numbers for JSON, which keeps every bit of them."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}


# What changes no observation of this game, not by a bit: they lie within [-1, 1].
UNCHANGED = Normalisation(
    (0.0,) * OBSERVATION_SIZE, obs_var=(1.0 - 1e-8,) * OBSERVATION_SIZE, clip_obs=10.0, epsilon=1e-8
)
# Those of a model that was trained without any.
NONE = Statistics(
    **asdict(UNCHANGED),
    obs_count=1e-4,
    return_mean=0.0,
    return_var=1.0,
    return_count=1e-4,
    clip_reward=10.0,
    gamma=0.99,
    norm_reward=False,
    norm_obs=False,
)


def parse_normalisation(values: dict[str, Any], check: Checker) -> Normalisation:
    """Return what a document says about normalising observations; other keys are left alone.

    Raises:
        ModelError: A number is missing, not finite, or out of range.
    """
    for key in ("obs_mean", "obs_var"):
        if not isinstance(values[key], list) or len(values[key]) != OBSERVATION_SIZE:
            raise check.fail(f"{key} must be a list of {OBSERVATION_SIZE} numbers")
    mean, variance = (tuple(check.number(value, key) for value in values[key]) for key in ("obs_mean", "obs_var"))
    if min(variance) < 0:
        raise check.fail("obs_var must not be negative")
    for key, numbers in (("obs_mean", mean), ("obs_var", variance)):
        _check_size(max(numbers, key=abs), key, check)
    _check_above_zero(values, ("clip_obs", "epsilon"), check)
    return Normalisation(mean, variance, float(values["clip_obs"]), float(values["epsilon"]))


def parse_statistics(document: Any, where: str) -> Statistics:
    """Return the statistics in a document.

    Args:
        document: The document, of any content.
        where: What it was read from, for the message.

    Raises:
        ModelError: It holds anything else, or numbers that are missing, not finite, or out of range.
    """
    check = Checker(ModelError, where)
    keys, flags = [field.name for field in fields(Statistics)], ("norm_reward", "norm_obs")
    values = check.mapping(document, "the statistics", keys, required=[key for key in keys if key not in flags])
    for name in flags:
        if not isinstance(values.get(name, True), bool):
            raise check.fail(f"{name} must be true or false")
    normalises = values.get("norm_obs", True)
    observations = parse_normalisation(values, check) if normalises else UNCHANGED
    _check_above_zero(values, ("obs_count", "return_count", "clip_reward"), check)
    statistics = Statistics(
        obs_mean=observations.obs_mean,
        obs_var=observations.obs_var,
        clip_obs=observations.clip_obs,
        epsilon=observations.epsilon,
        obs_count=float(values["obs_count"]),
        return_mean=check.number(values["return_mean"], "return_mean"),
        return_var=check.number(values["return_var"], "return_var"),
        return_count=float(values["return_count"]),
        clip_reward=float(values["clip_reward"]),
        gamma=check.number(values["gamma"], "gamma"),
        norm_reward=values.get("norm_reward", True),
        norm_obs=normalises,
    )
    if statistics.return_var < 0:
        raise check.fail("return_var must not be negative")
    for name in ("return_mean", "return_var"):
        _check_size(getattr(statistics, name), name, check)
    if not 0 <= statistics.gamma <= 1:
        raise check.fail(f"gamma must be from 0 to 1, got {statistics.gamma:g}")
    return statistics


def _check_above_zero(values: dict[str, Any], names: Iterable[str], check: Checker) -> None:
    for name in names:
        if check.number(values[name], name) <= 0:
            raise check.fail(f"{name} must be above 0, got {values[name]:g}")
        if values[name] < LEAST:
            raise check.fail(f"{name} must be at least {LEAST:g}, got {values[name]:g}")
        _check_size(values[name], name, check)


def _check_size(value: float, name: str, check: Checker) -> None:
    if abs(value) > MOST:
        raise check.fail(f"{name} must be within +-{MOST:g}, got {value:g}")
