"""A network of plain layers as numbers: what it takes, what it computes, and what it outputs."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from racer_env.contract import ACTION_SIZE, OBSERVATION_SIZE

LINEAR, TANH, RELU = 0, 1, 2  # activations


class Scaling(NamedTuple):
    """How observations become what a network takes: without their mean, in deviations, within a bound.

    Attributes:
        mean, deviation: (14,) float64.
        bound: Largest absolute value afterwards.
    """

    mean: npt.NDArray[np.float64]
    deviation: npt.NDArray[np.float64]
    bound: float

    def __call__(self, observations: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Return scaled observations (N, 14), bit by bit those of stable-baselines3's VecNormalize."""
        scaled = (observations - self.mean) / self.deviation
        return np.minimum(np.maximum(scaled, -self.bound, out=scaled), self.bound, out=scaled).astype(np.float32)


class Layer(NamedTuple):
    """A linear layer and what follows it.

    Attributes:
        weights: (out, in).
        biases: (out,).
        activation: LINEAR, TANH or RELU.
    """

    weights: npt.NDArray[Any]
    biases: npt.NDArray[Any]
    activation: int = LINEAR


UNSCALED = Scaling(np.zeros(OBSERVATION_SIZE), np.ones(OBSERVATION_SIZE), np.inf)


class PlainNetwork(NamedTuple):
    """A network that maps observations (N, 14) to actions (N, 3), which are cut to their bounds at last.

    Attributes:
        layers: Its layers.
        scaling: What is done to observations before.
        offset, factor: (3,) outputs times the factor plus the offset are actions.
    """

    layers: Sequence[Layer]
    scaling: Scaling = UNSCALED
    offset: npt.NDArray[Any] = np.zeros(ACTION_SIZE)
    factor: npt.NDArray[Any] = np.ones(ACTION_SIZE)
