"""SAC with less of PyTorch's overhead, see ``training.algorithms.fast_off_policy``."""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from stable_baselines3 import SAC
from stable_baselines3.sac.policies import LOG_STD_MAX, LOG_STD_MIN

from training.algorithms.fast_off_policy import Array, Batch, Critics, FastOffPolicy, Losses
from training.algorithms.gradients import Network
from training.algorithms.learner import HALF_LOG_TAU, Adam

EPSILON = 1e-6  # keeps logarithms finite where an action is at its bound, as in stable-baselines3


class FastSAC(FastOffPolicy, SAC):
    """SAC that learns and drives faster."""

    def optimisers(self) -> list[torch.optim.Optimizer]:
        """Return the optimisers of actor, critics and, where it adapts, the weight of the entropy."""
        of_entropy = [] if self.ent_coef_optimizer is None else [self.ent_coef_optimizer]
        return [self.actor.optimizer, self.critic.optimizer, *of_entropy]

    def make_learner(self) -> "SacLearner":
        """Return what updates the networks.

        Raises:
            ValueError: It cannot be computed here.
        """
        return SacLearner(self)


class Acted(NamedTuple):
    """What the policy does with N observations.

    Attributes:
        trace: Of the layers that means and deviations share.
        noise: (N, A) in standard deviations.
        std: (N, A) standard deviations.
        is_free: (N, A) whether the logarithm of the deviation is within its limits.
        actions: (N, A) in [-1, 1].
        log_probs: (N,) logarithms of the densities of the actions.
    """

    trace: list[torch.Tensor]
    noise: Array
    std: Array
    is_free: Array
    actions: Array
    log_probs: Array


class SacLearner:
    """Updates SAC's networks, and the weight of the entropy.

    Source: Haarnoja et al. (2018), "Soft actor-critic algorithms and applications", section 5.
    """

    def __init__(self, model: Any) -> None:
        """Take over the networks of a model.

        Raises:
            ValueError: Their layers are not plain, or their targets do not follow with each update.
        """
        if model.target_update_interval != 1:
            raise ValueError("targets that follow now and then are not computed here")
        self._model, actor = model, model.actor
        self._adam = Adam(actor.optimizer)  # which makes room for gradients
        self._adam_of_entropy = None if model.ent_coef_optimizer is None else Adam(model.ent_coef_optimizer)
        self._trunk, self._means, self._log_stds = map(Network, (actor.latent_pi, actor.mu, actor.log_std))
        self._critics = Critics(model.critic, model.critic_target)

    def explore(self, observations: torch.Tensor) -> Array:
        """Return drawn actions (N, A) in [-1, 1] for normalised observations (N, O)."""
        return self._act(observations).actions

    def update(self, batch: Batch) -> Losses:
        """Update all networks, and return what stable-baselines3 logs."""
        model, observed, (pairs, later) = self._model, batch.observed, batch.pairs
        acted, then = self._act(pairs[:, :observed]), self._act(later[:, :observed])
        entropy, losses = self._update_entropy(acted.log_probs)

        later[:, observed:] = torch.from_numpy(then.actions)
        values = self._critics.targets(later) - entropy * then.log_probs
        wanted = batch.rewards + batch.goes_on * (model.gamma * values)
        losses["critic_loss"] = self._critics.learn(pairs, wanted, weight=0.5)

        pairs[:, observed:] = torch.from_numpy(acted.actions)
        values, slopes = self._critics.least(pairs, observed)
        losses["actor_loss"] = float((entropy * acted.log_probs - values).mean())
        self._set_gradients(acted, slopes, entropy)
        self._adam.step()
        self._critics.follow(model.tau)
        return losses

    def _act(self, observations: torch.Tensor) -> Acted:
        """Draw actions, and note what their gradients need."""
        trace = self._trunk.trace(observations)
        means, free = self._means(trace[-1]), self._log_stds(trace[-1])
        log_std = np.minimum(np.maximum(free, LOG_STD_MIN), LOG_STD_MAX)
        std, noise = np.exp(log_std), torch.randn(means.shape, dtype=observations.dtype).numpy()
        actions = np.tanh(means + std * noise)
        densities = -0.5 * np.square(noise) - log_std - HALF_LOG_TAU - np.log(1 - np.square(actions) + EPSILON)
        return Acted(trace, noise, std, free == log_std, actions, densities.sum(axis=1))

    def _update_entropy(self, log_probs: Array) -> tuple[float, Losses]:
        """Return the weight of the entropy before this update, and what is logged about it."""
        model = self._model
        if self._adam_of_entropy is None:
            weight = model.ent_coef_tensor.item()
            return weight, {"ent_coef": weight}
        logarithm, slope = model.log_ent_coef.item(), -float(log_probs.mean()) - model.target_entropy
        weight = math.exp(logarithm)
        self._adam_of_entropy.gradients.fill(slope)
        self._adam_of_entropy.step()
        return weight, {"ent_coef": weight, "ent_coef_loss": logarithm * slope}

    def _set_gradients(self, acted: Acted, slopes: Array, entropy: float) -> None:
        """Set the gradients of the policy.

        Args:
            acted: What it did with N observations.
            slopes: Gradients (N, A) of the values of what it did.
            entropy: Weight of the entropy.
        """
        share = entropy / len(slopes)
        room = 1 - np.square(acted.actions)  # also the slope of tanh
        of_means = (2 * share * acted.actions / (room + EPSILON) - slopes / len(slopes)) * room
        of_log_stds = (of_means * acted.noise * acted.std - share) * acted.is_free
        of_hidden: Any = 0
        for head, above in ((self._means, torch.from_numpy(of_means)), (self._log_stds, torch.from_numpy(of_log_stds))):
            trace = [acted.trace[-1], above]
            head.set_gradients(trace, above)
            of_hidden = head.to_inputs(trace, above) + of_hidden
        self._trunk.set_gradients(acted.trace, of_hidden)
