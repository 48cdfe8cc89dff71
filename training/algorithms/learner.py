"""Gradients of PPO's loss and the steps of Adam, written out for networks so small that PyTorch's overhead counts.

NumPy's products also take less time than PyTorch's where a side is short, as those of observations and actions are.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from training.algorithms.inference import Activation, Layers, relu, tanh

HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)

Array = npt.NDArray[Any]


def tanh_slope(values: Array) -> Array:
    """Return the slope of tanh where it has these values, in place."""
    np.square(values, out=values)
    return np.subtract(1.0, values, out=values)


def relu_slope(values: Array) -> Array:
    """Return the slope of ReLU where it has these values, in place."""
    return np.greater(values, 0.0, out=values)


SLOPES: dict[Activation, Callable[[Array], Array]] = {tanh: tanh_slope, relu: relu_slope}


class Batch(NamedTuple):
    """What N steps of a rollout tell for learning.

    Attributes:
        observations: (N, 14), normalised.
        actions: (N, 3), before they are cut to their bounds.
        log_probs: (N,) logarithms of their probabilities when they were taken.
        advantages: (N,) how much better they were than expected.
        returns: (N,) what the values should have been.
    """

    observations: Array
    actions: Array
    log_probs: Array
    advantages: Array
    returns: Array

    def taken(self, rows: npt.NDArray[np.int64]) -> "Batch":
        """Return some of the steps, in this order."""
        return Batch(*(part.take(rows, axis=0) for part in self))

    def between(self, first: int, last: int) -> "Batch":
        """Return the steps from ``first`` up to ``last``."""
        return Batch(*(part[first:last] for part in self))


class Losses(NamedTuple):
    """What an update reports, as stable-baselines3 logs it."""

    entropy_loss: float
    policy_gradient_loss: float
    value_loss: float
    approx_kl: float
    clip_fraction: float
    loss: float


class Weighing(NamedTuple):
    """How the parts of PPO's loss are weighed.

    Attributes:
        clip_range: How far the probability of an action may change before its gradient is 0.
        entropy, value: Weights of entropy and value function.
        normalises: Whether advantages are normalised.
    """

    clip_range: float
    entropy: float
    value: float
    normalises: bool


class Learner:
    """Learns for a policy; gradients of all weights lie in one array, which their ``grad`` are views of."""

    def __init__(self, policy: Any, layers: tuple[Layers, Layers]) -> None:
        """Prepare for the layers of policy and value function; the gradients begin at 0."""
        self._log_std = policy.log_std.detach().numpy()
        self._adam = Adam(policy.optimizer)
        self._of_log_std = policy.log_std.grad.numpy()
        self._networks = [_Network(each) for each in layers]

    def find_gradients(self, batch: Batch, weighing: Weighing) -> Losses:
        """Set the gradients of all weights for some steps.

        Source: Schulman et al. (2017), "Proximal policy optimization algorithms", equations 7 and 9.
        """
        count, log_std = len(batch.observations), self._log_std
        means, values = (network.forward(batch.observations) for network in self._networks)
        deviations = np.exp(log_std)
        noise = (batch.actions - means) / deviations
        advantages = batch.advantages
        if weighing.normalises and count > 1:
            advantages = (advantages - advantages.mean()) / (advantages.std(ddof=1) + 1e-8)
        log_ratios = log_probs_of(noise, log_std) - batch.log_probs
        ratios = np.exp(log_ratios)
        gains = advantages * ratios
        bounded = advantages * np.minimum(np.maximum(ratios, 1.0 - weighing.clip_range), 1.0 + weighing.clip_range)
        errors = values[:, 0] - batch.returns

        of_log_probs = np.where(gains <= bounded, gains, 0.0).astype(gains.dtype) / -count
        weighted = of_log_probs[:, None] * noise
        self._of_log_std[:] = np.einsum("ij,ij->j", weighted, noise) - of_log_probs.sum() - weighing.entropy
        of_values = errors[:, None] * errors.dtype.type(2.0 * weighing.value / count)
        for network, above in zip(self._networks, (weighted / deviations, of_values), strict=True):
            network.backward(above)

        policy_loss, value_loss = -float(np.minimum(gains, bounded).sum()) / count, float(errors @ errors) / count
        entropy_loss = -float(log_std.sum() + (0.5 + HALF_LOG_TAU) * len(log_std))
        return Losses(
            entropy_loss=entropy_loss,
            policy_gradient_loss=policy_loss,
            value_loss=value_loss,
            approx_kl=float((ratios - 1.0 - log_ratios).sum()) / count,
            clip_fraction=np.count_nonzero(np.abs(ratios - 1.0) > weighing.clip_range) / count,
            loss=policy_loss + weighing.entropy * entropy_loss + weighing.value * value_loss,
        )

    def clip_gradients(self, most: float) -> None:
        """Shorten the gradient of all weights to a norm of ``most``, as PyTorch does."""
        gradients = self._adam.gradients
        norm = math.sqrt(float(gradients @ gradients))
        if most / (norm + 1e-6) < 1.0:
            gradients *= most / (norm + 1e-6)

    def step(self) -> None:
        """Change the weights by a step of Adam along their gradients."""
        self._adam.step()


class _Network:
    """Forward and backward pass of one network; what lies between its layers stays in the same arrays."""

    def __init__(self, layers: Layers) -> None:
        self._steps = layers.steps
        linear: Any = [module for module in layers.modules if isinstance(module, torch.nn.Linear)]
        self._gradients = [(module.weight.grad.numpy(), module.bias.grad.numpy()) for module in linear]
        self._ones: Array = np.ones(0)
        self._trace: list[Array] = []  # the inputs of each linear layer, and the outputs
        self._above: list[Array] = []  # their gradients

    def forward(self, observations: Array) -> Array:
        """Return the outputs (N, out) for observations (N, in)."""
        if len(observations) != len(self._ones):
            self._make_room(len(observations), observations.dtype)
        self._trace[0], place = observations, 0
        for step in self._steps:
            if isinstance(step, tuple):
                place += 1
                np.matmul(self._trace[place - 1], step[0].T, out=self._trace[place])
                self._trace[place] += step[1]
            else:
                step(self._trace[place])
        return self._trace[place]

    def backward(self, above: Array) -> None:
        """Set the gradients of all weights and biases, given those of the outputs (N, out)."""
        place = len(self._gradients)
        for step in reversed(self._steps):
            if isinstance(step, tuple):
                place -= 1
                of_weights, of_biases = self._gradients[place]
                np.matmul(above.T, self._trace[place], out=of_weights)
                np.matmul(self._ones, above, out=of_biases)  # their sum, in a fifth of the time
                if place > 0:
                    above = np.matmul(above, step[0], out=self._above[place])
            else:
                above *= SLOPES[step](self._trace[place])

    def _make_room(self, count: int, kind: Any) -> None:
        widths = [0, *(len(step[1]) for step in self._steps if isinstance(step, tuple))]
        self._ones = np.ones(count, kind)
        self._trace, self._above = ([np.empty((count, width), kind) for width in widths] for _ in range(2))


class Adam:
    """PyTorch's Adam, whose step takes a tenth of the time where the weights are few: all lie in one array.

    The optimiser's own state are views of this one, so it is saved, and goes on, as if it had done the steps.

    Attributes:
        gradients: (W,) gradients of all weights, which their ``grad`` are views of.

    Source: Kingma and Ba (2015), "Adam: a method for stochastic optimization", algorithm 1.
    """

    def __init__(self, optimizer: Any) -> None:
        """Take over what an optimiser has done, see ``steps_as``."""
        (self._group,) = optimizer.param_groups
        weights = self._group["params"]
        sizes = [weight.numel() for weight in weights]
        rows = torch.zeros(3, sum(sizes), dtype=weights[0].dtype)
        self.gradients, self._means, self._squares = rows.numpy()
        self._change = np.empty_like(self.gradients)
        steps = torch.zeros(len(weights))
        self._steps = steps.numpy()
        self._weights, first = [], 0
        for place, (weight, size) in enumerate(zip(weights, sizes, strict=True)):
            own = slice(first, first + size)
            weight.grad, means, squares = (row[own].view_as(weight) for row in rows)
            before = optimizer.state.get(weight)
            if before:
                means.copy_(before["exp_avg"])
                squares.copy_(before["exp_avg_sq"])
                self._steps[place] = float(before["step"])
            optimizer.state[weight] = {"step": steps[place], "exp_avg": means, "exp_avg_sq": squares}
            self._weights.append((weight.detach().numpy(), self._change[own].reshape(weight.shape)))
            first += size

    @staticmethod
    def steps_as(optimizer: Any) -> bool:
        """Return whether an optimiser is Adam with one set of options, and without those that few use."""
        if type(optimizer) is not torch.optim.Adam or len(optimizer.param_groups) != 1:
            return False
        (group,) = optimizer.param_groups
        return not any(group.get(name) for name in ("weight_decay", "amsgrad", "maximize", "differentiable"))

    def step(self) -> None:
        """Change the weights by a step."""
        rate, (beta_1, beta_2), epsilon = (self._group[name] for name in ("lr", "betas", "eps"))
        self._steps += 1
        steps, change = float(self._steps[0]), self._change
        for average, values, beta in (
            (self._means, self.gradients, beta_1),
            (self._squares, np.square(self.gradients), beta_2),
        ):
            np.subtract(values, average, out=change)
            change *= 1.0 - beta
            average += change
        np.sqrt(self._squares, out=change)
        change *= 1.0 / math.sqrt(1.0 - beta_2**steps)
        change += epsilon
        np.divide(self._means, change, out=change)
        change *= rate / (1.0 - beta_1**steps)
        for weights, part in self._weights:
            weights -= part


def log_probs_of(noise: Array, log_std: Array) -> Array:
    """Return the logarithms of the densities (N,) of normal distributions, given how many deviations off (N, 3)."""
    constant = log_std.sum() + log_std.dtype.type(HALF_LOG_TAU * len(log_std))
    result: Array = np.einsum("ij,ij->i", noise, noise) * log_std.dtype.type(-0.5) - constant
    return result
