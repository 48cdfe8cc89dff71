"""What SAC and TD3 share where they compute without PyTorch's overhead on networks this small.

Transitions of several updates are drawn at once, gradients are written out, with PyTorch's products, and Adam is
``learner.Adam``. Random numbers are drawn as stable-baselines3 draws them, so both learn the same but for rounding.
What cannot be computed here, such as other layers or a network on a GPU, is left to the classes that these extend.
Saved models are ordinary ones of stable-baselines3.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import torch
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.noise import ActionNoise
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.torch_layers import FlattenExtractor

from training.algorithms.gradients import Network
from training.algorithms.learner import Adam

TOGETHER = 8192  # transitions that are drawn at once: those of one update, or of several if they are no more than this

Array = npt.NDArray[Any]
Losses = dict[str, float]


class Batch(NamedTuple):
    """N transitions for an update, laid out for the critics. O numbers are observed, and A are done.

    Attributes:
        pairs: (2, N, O + A): normalised observations and what was done; then the next observations, with room for what
            the policy does there. An update overwrites what was done.
        observed: O.
        rewards: (N,), normalised.
        goes_on: (N,): 0 where the episode ended, 1 elsewhere; running out of time is no end.
    """

    pairs: torch.Tensor
    observed: int
    rewards: Array
    goes_on: Array


class Learner(Protocol):
    """What knows the networks of a model, drives with them, and updates them."""

    def explore(self, observations: torch.Tensor) -> Array:
        """Return the policy's actions (N, A) in [-1, 1] for normalised observations (N, O), drawn if it is random."""

    def update(self, batch: Batch) -> Losses:
        """Update the networks, and return what stable-baselines3 logs, by name."""


class FastOffPolicy(OffPolicyAlgorithm):
    """An off-policy algorithm that learns and drives faster."""

    def optimisers(self) -> list[torch.optim.Optimizer]:
        """Return all optimisers."""
        raise NotImplementedError

    def make_learner(self) -> Learner:
        """Return what updates the networks.

        Raises:
            ValueError: It cannot be computed here.
        """
        raise NotImplementedError

    def train(self, gradient_steps: int, batch_size: int = 64) -> None:
        """Update the networks, with ``batch_size`` transitions in each of ``gradient_steps`` updates."""
        learner = self._learner()
        if learner is None:
            super().train(gradient_steps, batch_size)
            return
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.optimisers())
        losses: dict[str, list[float]] = {}
        for batch in self._batches(gradient_steps, batch_size):
            self._n_updates += 1
            for name, loss in learner.update(batch).items():
                losses.setdefault(name, []).append(loss)
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        for name, values in losses.items():
            self.logger.record(f"train/{name}", np.mean(values))

    def _setup_learn(self, *arguments: Any, **named: Any) -> Any:
        vars(self).pop("_found", None)  # weights and optimisers may be others than before
        return super()._setup_learn(*arguments, **named)

    def _learner(self) -> Learner | None:
        """Return what updates the networks, which is found once; None if that is left to stable-baselines3."""
        if "_found" not in vars(self):
            self._found = self._find_learner()
        return self._found

    def _find_learner(self) -> Learner | None:
        buffer = self.replay_buffer
        if type(buffer) is not ReplayBuffer or buffer.optimize_memory_usage or self.use_sde:
            return None
        extractors = (each for name, each in self.policy.named_modules() if name.endswith("features_extractor"))
        if any(type(each) is not FlattenExtractor for each in extractors):
            return None
        if self.device.type != "cpu" or not all(map(Adam.steps_as, self.optimisers())):
            return None
        try:
            return self.make_learner()
        except ValueError:
            return None

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "_found"]

    def _batches(self, count: int, size: int) -> Iterator[Batch]:
        """Yield batches of transitions."""
        together = max(1, TOGETHER // size)
        for first in range(0, count, together):
            yield from self._drawn(min(together, count - first), size)

    def _drawn(self, count: int, size: int) -> Iterator[Batch]:
        """Yield batches of transitions that are taken out of the buffer at once."""
        buffer, env = self.replay_buffer, self._vec_normalize_env
        assert buffer is not None
        places = np.empty((count, size), np.int64)
        for row in places:
            steps = np.random.randint(0, buffer.size(), size)  # noqa: NPY002 (as stable-baselines3 does)
            row[:] = steps * buffer.n_envs + np.random.randint(0, buffer.n_envs, size)  # noqa: NPY002

        def taken(values: Array) -> Array:
            """Return values (steps, cars, ...) at the places (count * size, ...)."""
            return values.reshape(-1, *values.shape[2:]).take(places.ravel(), axis=0)

        actions, observed = taken(buffer.actions), buffer.observations.shape[2]
        pairs = np.zeros((count, 2, size, observed + actions.shape[1]), actions.dtype)
        pairs[:, 0, :, observed:] = actions.reshape(count, size, -1)
        for half, values in enumerate((buffer.observations, buffer.next_observations)):
            seen: Any = buffer._normalize_obs(taken(values), env)
            pairs[:, half, :, :observed] = seen.reshape(count, size, -1)
        rewards = buffer._normalize_reward(taken(buffer.rewards), env)
        goes_on = 1 - taken(buffer.dones) * (1 - taken(buffer.timeouts))
        columns = (values.reshape(count, size) for values in (rewards, goes_on))
        yield from map(Batch, torch.from_numpy(pairs), itertools.repeat(observed), *columns)

    def _sample_action(
        self, learning_starts: int, action_noise: ActionNoise | None = None, n_envs: int = 1
    ) -> tuple[Array, Array]:
        """Return actions of the policy with noise, within their bounds, and the same in [-1, 1]."""
        learner = self._learner() if self.num_timesteps >= learning_starts else None
        if learner is None:
            return super()._sample_action(learning_starts, action_noise, n_envs)
        scaled = learner.explore(torch.from_numpy(self._last_obs))
        if action_noise is not None:
            scaled = np.clip(scaled + action_noise(), -1, 1)
        return self.policy.unscale_action(scaled), scaled


class Critics:
    """Several value functions of observations and actions, and their targets, which follow them slowly."""

    def __init__(self, critic: Any, target: Any) -> None:
        """Take over the networks of two ``ContinuousCritic``.

        Raises:
            ValueError: Their layers are not plain.
        """
        self._adam = Adam(critic.optimizer)  # which makes room for gradients
        self._networks, self._targets = ([Network(each) for each in part.q_networks] for part in (critic, target))
        self.follow = follower(target, critic)

    def targets(self, pairs: torch.Tensor) -> Array:
        """Return the least value (N,) that a target gives to each observation with its action (N, O + A)."""
        least: Array = np.minimum.reduce([target(pairs) for target in self._targets])
        return least[:, 0]

    def learn(self, pairs: torch.Tensor, wanted: Array, weight: float) -> float:
        """Take a step down a loss: the sum of all networks' mean squared errors.

        Args:
            pairs: Observations with actions (N, O + A).
            wanted: Values (N,) that each network should have.
            weight: Weight of the errors.

        Returns:
            The loss before that.
        """
        loss = 0.0
        for network in self._networks:
            trace = network.trace(pairs)
            errors = trace[-1].numpy()[:, 0] - wanted
            loss += weight * float(errors @ errors) / len(errors)
            errors *= 2 * weight / len(errors)
            network.set_gradients(trace, torch.from_numpy(errors)[:, None])
        self._adam.step()
        return loss

    def least(self, pairs: torch.Tensor, observed: int, among: int | None = None) -> tuple[Array, Array]:
        """Return the least value (N,) of each observation with its action, and its gradients (N, A) by that action.

        Args:
            pairs: Observations with actions (N, O + A).
            observed: O.
            among: Number of networks that are asked, the first ones; None is all.
        """
        networks = self._networks[:among]
        traces = [network.trace(pairs) for network in networks]
        values = np.hstack([trace[-1].numpy() for trace in traces])
        chosen = values.argmin(axis=1)
        slopes: Any = 0
        for number, (network, trace) in enumerate(zip(networks, traces, strict=True)):
            is_chosen = torch.from_numpy((chosen == number).astype(values.dtype))
            slopes = network.to_inputs(trace, is_chosen[:, None], observed).numpy() + slopes
        return values.min(axis=1), slopes


def follower(target: torch.nn.Module, source: torch.nn.Module) -> Callable[[float], Any]:
    """Return what moves the weights of a network by a share of their way to those of another."""
    weights, goals = ([weight.detach() for weight in part.parameters()] for part in (target, source))
    return lambda share: torch._foreach_lerp_(weights, goals, share)
