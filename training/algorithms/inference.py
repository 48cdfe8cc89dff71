"""Policies without PyTorch: their forward pass in NumPy, for training, and as a driver, for evaluations."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from racer_env.contract import OBSERVATION_SIZE
from racer_env.spaces import make_action_space
from training.algorithms.algorithm import Algorithm
from training.algorithms.forward import ForwardPass, agree
from training.algorithms.plain import RELU, TANH, UNSCALED, Layer, PlainNetwork, Scaling

Array = npt.NDArray[Any]
Activation = Callable[[Array], Array]


def relu(values: Array) -> Array:
    """Return the values that are above 0, and 0 for the others, in place."""
    return np.maximum(values, 0.0, out=values)


def tanh(values: Array) -> Array:
    """Return the hyperbolic tangent, in place."""
    return np.tanh(values, out=values)


ACTIVATIONS: dict[type[torch.nn.Module], Activation] = {torch.nn.Tanh: tanh, torch.nn.ReLU: relu}
CODES: dict[type[torch.nn.Module], int] = {torch.nn.Tanh: TANH, torch.nn.ReLU: RELU}


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


def make_inference(algorithm: Algorithm, model: Any, scaling: Scaling = UNSCALED) -> Callable[[Array], Array]:
    """Return what maps observations (N, 14) to the actions (N, 3) of ``predict(deterministic=True)``.

    Where the network, as it is now, is of plain layers on a CPU, a ``ForwardPass`` with its weights computes them, if
    they agree. Otherwise they are those of ``predict`` itself.

    Args:
        algorithm: Algorithm of the model.
        model: A model of stable-baselines3.
        scaling: How the observations become what the model takes.
    """

    def predict(observations: Array) -> Array:
        actions: Array = model.predict(scaling(observations), deterministic=True)[0]
        return actions

    layers = _plain_layers(algorithm, model.policy)
    if layers is None:
        return predict
    network = PlainNetwork(layers, scaling)
    if algorithm.output != "clipped":  # outputs within [-1, 1] are spread over the actions' ranges
        space = make_action_space()
        half = (space.high - space.low) / 2
        network = network._replace(offset=space.low + half, factor=half)
    infer = ForwardPass(network)
    return infer if agree(infer, predict, scaling) else predict


def _plain_layers(algorithm: Algorithm, policy: torch.nn.Module) -> list[Layer] | None:
    """Return the layers of the part of a policy that drives; None if they are anything but plain ones on a CPU."""
    found = layers_of(*(operator.attrgetter(path)(policy) for path in algorithm.head))
    if found is None or found.inputs != OBSERVATION_SIZE:
        return None
    layers: list[Layer] = []
    modules = [*found.modules, torch.nn.Tanh()] if algorithm.output == "tanh" else found.modules
    for module in modules:
        if isinstance(module, torch.nn.Linear):
            layers.append(Layer(module.weight.detach().numpy(), module.bias.detach().numpy()))
        elif not layers[-1].activation:
            layers[-1] = layers[-1]._replace(activation=CODES[type(module)])
        else:
            return None  # two activations, one after the other
    return layers
