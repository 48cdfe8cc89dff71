"""A policy's forward pass without PyTorch, which takes four times as long for one car: NumPy's BLAS and tanh."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from racer_env.contract import OBSERVATION_SIZE
from racer_env.spaces import make_action_space
from training.algorithms.algorithm import Algorithm

TOLERANCE = 1e-6  # largest difference of an action from that of PyTorch

Array = npt.NDArray[Any]
Activation = Callable[[Array], Array]

# Real observations to compare by, in thousandths: rays, speed, yaw rate, steer, arc length, distance from the centre.
_SAMPLES = (
    (50, 54, 71, 141, 1000, 141, 71, 54, 50, 0, 0, 0, 0, 0),
    (41, 45, 62, 131, 770, 150, 79, 62, 59, 413, 32, 104, 37, 85),
    (63, 70, 98, 214, 402, 118, 61, 44, 38, 687, -213, -391, 128, 120),
    (35, 38, 50, 97, 288, 236, 97, 70, 63, 552, 371, 640, 304, 148),
    (76, 88, 131, 305, 351, 92, 48, 33, 24, 238, -540, -1000, 491, 262),
    (52, 56, 73, 149, 912, 138, 70, 52, 48, 934, 11, -42, 676, 19),
    (20, 22, 31, 66, 187, 402, 144, 95, 81, 801, 128, 250, 850, 305),
    (0, 9, 21, 58, 118, 74, 52, 61, 102, 121, 702, 1000, 969, 498),
)
SAMPLES = np.array(_SAMPLES, np.float32) / np.float32(1000)
assert SAMPLES.shape[1] == OBSERVATION_SIZE


def relu(values: Array) -> Array:
    """Return the values that are above 0, and 0 for the others, in place."""
    return np.maximum(values, 0.0, out=values)


def tanh(values: Array) -> Array:
    """Return the hyperbolic tangent, in place."""
    return np.tanh(values, out=values)


ACTIVATIONS: dict[type[torch.nn.Module], Activation] = {torch.nn.Tanh: tanh, torch.nn.ReLU: relu}


class Layers:
    """Linear layers and activations on NumPy's side; the weights are those of PyTorch, in the same memory.

    Attributes:
        modules: The same in PyTorch, in order.
        steps: Weights (out, in) with biases (out,), or an activation, in order.
    """

    def __init__(self, modules: list[torch.nn.Module]) -> None:
        """Take layers over; ``layers_of`` says whether that can be done."""
        self.modules = modules
        self.steps: list[tuple[Array, Array] | Activation] = []
        for module in modules:
            if isinstance(module, torch.nn.Linear):
                self.steps.append((module.weight.detach().numpy(), module.bias.detach().numpy()))
            else:
                self.steps.append(ACTIVATIONS[type(module)])

    @property
    def inputs(self) -> int:
        """Number of values that the first layer takes."""
        first: Any = self.modules[0]
        return int(first.in_features)

    def __call__(self, values: Array) -> Array:
        """Return the outputs (N, out) for inputs (N, in)."""
        for step in self.steps:
            if isinstance(step, tuple):
                values = values @ step[0].T
                values += step[1]
            else:
                values = step(values)
        return values


def layers_of(*parts: torch.nn.Module) -> Layers | None:
    """Return the forward pass of modules, one after the other; None if they are anything but plain layers on a CPU."""
    modules = [module for part in parts for module in part.modules() if not isinstance(module, torch.nn.Sequential)]
    if not modules or not isinstance(modules[0], torch.nn.Linear):
        return None  # an activation first would change what it is given
    for module in modules:
        if type(module) is torch.nn.Linear:
            if module.bias is None or module.weight.device.type != "cpu":
                return None
        elif type(module) not in ACTIVATIONS:
            return None
    return Layers(modules)


def make_inference(algorithm: Algorithm, model: Any) -> Callable[[Array], Array]:
    """Return what maps normalised observations (N, 14) to the actions (N, 3) of ``predict(deterministic=True)``.

    Where the network is of plain layers on a CPU, and the actions are those of PyTorch to TOLERANCE, NumPy computes
    them. Otherwise it is ``predict`` itself. Weights that training changes later are taken over at once.

    Args:
        algorithm: Algorithm of the model.
        model: A model of stable-baselines3.
    """

    def predict(observations: Array) -> Array:
        actions: Array = model.predict(observations, deterministic=True)[0]
        return actions

    layers = layers_of(*(operator.attrgetter(path)(model.policy) for path in algorithm.head))
    if layers is None or layers.inputs != OBSERVATION_SIZE:
        return predict
    space, output = make_action_space(), algorithm.output
    low, high = space.low, space.high
    half = ((high - low) / 2).astype(np.float32)

    def infer(observations: Array) -> Array:
        given = layers(observations)
        if output == "tanh":
            given = np.tanh(given, out=given)
        if output != "clipped":
            given = (low + half * (given + np.float32(1.0))).astype(np.float32)
        return np.minimum(np.maximum(given, low), high)

    return infer if _largest_difference(infer, predict) <= TOLERANCE else predict


def _largest_difference(one: Callable[[Array], Array], other: Callable[[Array], Array]) -> float:
    """Return the largest difference on real observations, as they are and as normalising spreads them."""
    differences = [np.abs(one(seen) - other(seen)).max() for seen in (SAMPLES, 4.0 * SAMPLES - 2.0)]
    return float(np.nan_to_num(max(differences), nan=np.inf))
