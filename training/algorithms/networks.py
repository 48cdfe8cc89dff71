"""The part of a policy that drives, as a separate network that can be exported."""

import operator
from typing import Any

import torch
from stable_baselines3.common.policies import BasePolicy

from racer_env.spaces import make_action_space
from training.algorithms.algorithm import Algorithm


class DeterministicPolicy(torch.nn.Module):
    """Maps normalised observations (N, 14) to the actions (N, 3) that ``predict(deterministic=True)`` returns."""

    low: torch.Tensor
    high: torch.Tensor

    def __init__(self, algorithm: Algorithm, policy: BasePolicy) -> None:
        """Take the layers of a policy; ``algorithm`` says which layers and what they output."""
        super().__init__()
        space = make_action_space()
        self.output = algorithm.output
        self.layers = torch.nn.Sequential(*(operator.attrgetter(path)(policy) for path in algorithm.head))
        self.register_buffer("low", torch.from_numpy(space.low))
        self.register_buffer("high", torch.from_numpy(space.high))
        self.eval()

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        """Return the actions (N, 3) for normalised observations (N, 14)."""
        given: torch.Tensor = self.layers(obs)
        if self.output == "tanh":
            given = torch.tanh(given)
        if self.output != "clipped":
            given = self.low + 0.5 * (given + 1.0) * (self.high - self.low)
        return torch.minimum(torch.maximum(given, self.low), self.high)  # some runtimes' tanh goes 1e-7 beyond 1


class NormalisingPolicy(torch.nn.Module):
    """A policy that takes raw observations (N, 14) and normalises them as VecNormalize does, but in single precision.

    The mean is kept in two parts, its rounded value and what rounding took from it. The first subtraction is exact
    close to the mean, so even an observation that hardly ever changes keeps its digits.
    """

    mean: torch.Tensor
    rest_of_mean: torch.Tensor
    deviation: torch.Tensor

    def __init__(self, policy: DeterministicPolicy, statistics: dict[str, Any]) -> None:
        """Add the normalisation in ``statistics``, the content of ``vecnorm_stats.json``, to a policy."""
        super().__init__()
        self.policy = policy
        self.clip = float(statistics["clip_obs"])
        mean, variance = (torch.tensor(statistics[key], dtype=torch.float64) for key in ("obs_mean", "obs_var"))
        self.register_buffer("mean", mean.float())
        self.register_buffer("rest_of_mean", (mean - mean.float().double()).float())
        self.register_buffer("deviation", torch.sqrt(variance + statistics["epsilon"]).float())
        self.eval()

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        """Return the actions (N, 3) for raw observations (N, 14)."""
        scaled = (obs - self.mean - self.rest_of_mean) / self.deviation
        actions: torch.Tensor = self.policy(torch.clamp(scaled, -self.clip, self.clip))
        return actions
