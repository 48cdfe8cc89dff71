"""The part of a policy that drives, as a network of its own that can be exported."""

from typing import Any

import torch
from stable_baselines3.common.policies import BasePolicy

from racer_env.spaces import make_action_space
from training.model_data import SAC


class DeterministicPolicy(torch.nn.Module):
    """From normalised observations (N, 14) to the actions (N, 3) that ``predict(deterministic=True)`` returns."""

    low: torch.Tensor
    high: torch.Tensor

    def __init__(self, algorithm: str, policy: BasePolicy) -> None:
        super().__init__()
        space = make_action_space()
        parts: Any = policy
        self.is_squashed = algorithm == SAC
        if self.is_squashed:
            self.layers = torch.nn.Sequential(parts.actor.latent_pi, parts.actor.mu)
        else:
            self.layers = torch.nn.Sequential(parts.mlp_extractor.policy_net, parts.action_net)
        self.register_buffer("low", torch.from_numpy(space.low))
        self.register_buffer("high", torch.from_numpy(space.high))
        self.eval()

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        """Return the actions."""
        means = self.layers(obs)
        if self.is_squashed:  # SAC's network gives [-1, 1] for every range
            return self.low + 0.5 * (torch.tanh(means) + 1.0) * (self.high - self.low)
        return torch.minimum(torch.maximum(means, self.low), self.high)


class NormalisingPolicy(torch.nn.Module):
    """A policy that takes raw observations (N, 14), normalised in double precision as VecNormalize does."""

    mean: torch.Tensor
    deviation: torch.Tensor

    def __init__(self, policy: DeterministicPolicy, statistics: dict[str, Any]) -> None:
        """Make it; the statistics are those of ``vecnorm_stats.json``."""
        super().__init__()
        self.policy = policy
        self.clip = float(statistics["clip_obs"])
        mean, variance = (torch.tensor(statistics[key], dtype=torch.float64) for key in ("obs_mean", "obs_var"))
        self.register_buffer("mean", mean)
        self.register_buffer("deviation", torch.sqrt(variance + statistics["epsilon"]))
        self.eval()

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        """Return the actions."""
        scaled = (obs.double() - self.mean) / self.deviation
        actions: torch.Tensor = self.policy(torch.clamp(scaled, -self.clip, self.clip).float())
        return actions
