"""TD3 with less of PyTorch's overhead, see ``training.algorithms.fast_off_policy``."""

from typing import Any

import numpy as np
import torch
from stable_baselines3 import TD3

from training.algorithms.fast_off_policy import Array, Batch, Critics, FastOffPolicy, Losses, follower
from training.algorithms.gradients import Network
from training.algorithms.learner import Adam


class FastTD3(FastOffPolicy, TD3):
    """TD3 that learns and drives faster."""

    def optimisers(self) -> list[torch.optim.Optimizer]:
        """Return the optimisers of actor and critics."""
        return [self.actor.optimizer, self.critic.optimizer]

    def make_learner(self) -> "Td3Learner":
        """Return what updates the networks.

        Raises:
            ValueError: It cannot be computed here.
        """
        return Td3Learner(self)


class Td3Learner:
    """Updates TD3's networks.

    Source: Fujimoto, van Hoof and Meger (2018), "Addressing function approximation error in actor-critic methods".
    """

    def __init__(self, model: Any) -> None:
        """Take over the networks of a model.

        Raises:
            ValueError: Their layers are not plain.
        """
        self._model = model
        self._adam = Adam(model.actor.optimizer)  # which makes room for gradients
        self._actor, self._target = Network(model.actor.mu), Network(model.actor_target.mu)
        self._critics = Critics(model.critic, model.critic_target)
        self._follow = follower(model.actor_target, model.actor)

    def explore(self, observations: torch.Tensor) -> Array:
        """Return actions (N, A) in [-1, 1] for normalised observations (N, O)."""
        actions: Array = self._actor(observations)
        return actions

    def update(self, batch: Batch) -> Losses:
        """Update the critics, now and then also the policy and all targets, and return what stable-baselines3 logs."""
        model, observed, (pairs, later) = self._model, batch.observed, batch.pairs
        then = self._target(later[:, :observed])
        noise = torch.empty(then.shape, dtype=later.dtype).normal_(0, model.target_policy_noise).numpy()
        bounded = np.clip(noise, -model.target_noise_clip, model.target_noise_clip)
        later[:, observed:] = torch.from_numpy(np.clip(then + bounded, -1, 1))
        wanted = batch.rewards + batch.goes_on * (model.gamma * self._critics.targets(later))
        losses = {"critic_loss": self._critics.learn(pairs, wanted, weight=1.0)}
        if model._n_updates % model.policy_delay == 0:
            losses["actor_loss"] = self._update_policy(pairs, observed)
            self._critics.follow(model.tau)
            self._follow(model.tau)
        return losses

    def _update_policy(self, pairs: torch.Tensor, observed: int) -> float:
        """Update the policy, and return its loss."""
        trace = self._actor.trace(pairs[:, :observed])
        pairs[:, observed:] = trace[-1]
        values, slopes = self._critics.least(pairs, observed, among=1)
        self._actor.set_gradients(trace, torch.from_numpy(slopes / -len(slopes)))
        self._adam.step()
        return -float(values.mean())
