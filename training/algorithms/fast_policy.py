"""PPO as stable-baselines3 computes it, without PyTorch's overhead on networks this small.

Driving takes NumPy's forward pass, and learning what ``Learner`` computes. Random numbers are drawn as
stable-baselines3 draws them, so both learn the same but for rounding. What cannot be computed here, such as other
layers or a network on a GPU, is left to the class that this extends. Saved models are ordinary ones of
stable-baselines3.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.distributions import DiagGaussianDistribution
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.common.utils import explained_variance
from stable_baselines3.common.vec_env import VecEnv

from training.algorithms.inference import Layers, layers_of
from training.algorithms.learner import Adam, Batch, Learner, Losses, Weighing, log_probs_of

AT_ONCE = 1024  # rows of which a network computes the values at once: their layers fit into a processor's cache

Array = npt.NDArray[Any]


class FastPPO(PPO):
    """PPO that drives and learns faster."""

    def _setup_model(self) -> None:
        super()._setup_model()
        for group in self.policy.optimizer.param_groups:  # where learning is left to PyTorch
            group["fused"] = self.device.type == "cpu" or group["fused"]

    def _update_info_buffer(self, infos: list[dict[str, Any]], dones: Array | None = None) -> None:
        """Note finished episodes; only those are told, by the monitor."""
        ended = range(len(infos)) if dones is None else np.flatnonzero(dones).tolist()
        if ended:
            super()._update_info_buffer([infos[car] for car in ended], np.ones(len(ended), np.bool_))

    def collect_rollouts(
        self, env: VecEnv, callback: BaseCallback, rollout_buffer: RolloutBuffer, n_rollout_steps: int
    ) -> bool:
        """Drive a rollout, and return whether it was driven to its end.

        Callbacks find ``new_obs``, ``rewards``, ``dones`` and ``infos`` of a step in their ``locals``. Only actions
        are computed on the way; values and probabilities follow for all steps at once.
        """
        layers = plain_layers(self.policy)
        if layers is None or type(rollout_buffer) is not RolloutBuffer:
            return super().collect_rollouts(env, callback, rollout_buffer, n_rollout_steps)
        actor, critic = layers
        space: Any = self.action_space
        log_std = self.policy.log_std.detach().numpy()
        seen: Any
        new_obs: Any = self._last_obs
        cut: list[tuple[int, int, Array]] = []  # the step, car and last observation of episodes that were cut off
        rollout_buffer.reset()
        callback.on_rollout_start()
        noise = np.empty_like(rollout_buffer.actions)
        deviations = np.exp(log_std)
        for step in range(n_rollout_steps):
            seen = self._last_obs
            noise[step] = torch.randn(noise.shape[1:]).numpy()
            actions = actor(seen) + noise[step] * deviations
            new_obs, rewards, dones, infos = env.step(np.minimum(np.maximum(actions, space.low), space.high))
            self.num_timesteps += env.num_envs
            callback.update_locals({"new_obs": new_obs, "rewards": rewards, "dones": dones, "infos": infos})
            if not callback.on_step():
                return False
            self._update_info_buffer(infos, dones)
            for car in np.flatnonzero(dones).tolist():
                last = infos[car].get("terminal_observation")
                if last is not None and infos[car].get("TimeLimit.truncated", False):
                    cut.append((step, car, last))
            rollout_buffer.observations[step] = seen
            rollout_buffer.actions[step] = actions
            rollout_buffer.rewards[step] = rewards
            rollout_buffer.episode_starts[step] = self._last_episode_starts
            self._last_obs, self._last_episode_starts = new_obs, dones
        rows = _flat(rollout_buffer.observations)
        values = [critic(rows[first : first + AT_ONCE]) for first in range(0, len(rows), AT_ONCE)]
        rollout_buffer.values[:] = np.concatenate(values).reshape(rollout_buffer.values.shape)
        rollout_buffer.log_probs[:] = log_probs_of(_flat(noise), log_std).reshape(rollout_buffer.log_probs.shape)
        for step, car, last in cut:  # what would have followed is worth what is expected of it
            rollout_buffer.rewards[step, car] += self.gamma * critic(last[None])[0, 0]
        rollout_buffer.pos, rollout_buffer.full = n_rollout_steps, True
        rollout_buffer.compute_returns_and_advantage(torch.from_numpy(critic(new_obs)), dones)
        callback.on_rollout_end()
        return True

    def train(self) -> None:
        """Update the networks with the last rollout."""
        layers = plain_layers(self.policy) if self.clip_range_vf is None and self.target_kl is None else None
        if layers is None or not Adam.steps_as(self.policy.optimizer):
            super().train()
            return
        learner = Learner(self.policy, layers)
        self._update_learning_rate(self.policy.optimizer)
        schedule: Any = self.clip_range
        clip_range = float(schedule(self._current_progress_remaining))
        weighing = Weighing(clip_range, float(self.ent_coef), float(self.vf_coef), self.normalize_advantage)
        buffer, told = self.rollout_buffer, []
        names = ("observations", "actions", "log_probs", "advantages", "returns")
        rollout = Batch(*(_in_rows(getattr(buffer, name)) for name in names))
        for _ in range(self.n_epochs):
            order = np.random.permutation(len(rollout.observations))  # noqa: NPY002 (as stable-baselines3 does)
            shuffled = rollout.taken(order)
            epoch = []
            for first in range(0, len(order), self.batch_size):
                batch = shuffled.between(first, first + self.batch_size)
                epoch.append(learner.find_gradients(batch, weighing))
                learner.clip_gradients(self.max_grad_norm)
                learner.step()
            told.append(epoch)
            self._n_updates += 1
        self._log_update([losses for epoch in told for losses in epoch], told[-1], clip_range)

    def _log_update(self, all_losses: list[Losses], last_epoch: list[Losses], clip_range: float) -> None:
        """Record what stable-baselines3 records, under the same names."""
        means = dict(zip(Losses._fields, np.mean(all_losses, axis=0).tolist(), strict=True))
        means["approx_kl"] = float(np.mean([losses.approx_kl for losses in last_epoch]))
        means["loss"] = last_epoch[-1].loss
        for name, value in means.items():
            self.logger.record(f"train/{name}", value)
        buffer = self.rollout_buffer
        self.logger.record(
            "train/explained_variance", explained_variance(buffer.values.ravel(), buffer.returns.ravel())
        )
        self.logger.record("train/std", float(self.policy.log_std.detach().exp().mean()))
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        self.logger.record("train/clip_range", clip_range)


def plain_layers(policy: Any) -> tuple[Layers, Layers] | None:
    """Return the layers of policy and value function; None if they are left to stable-baselines3."""
    is_plain = type(policy) is ActorCriticPolicy and isinstance(policy.action_dist, DiagGaussianDistribution)
    if not is_plain or type(policy.features_extractor) is not FlattenExtractor:
        return None
    actor = layers_of(policy.mlp_extractor.policy_net, policy.action_net)
    critic = layers_of(policy.mlp_extractor.value_net, policy.value_net)
    return None if actor is None or critic is None else (actor, critic)


def _flat(values: Array) -> Array:
    """Return values (steps, cars, K) in rows (steps x cars, K)."""
    return values.reshape(-1, values.shape[-1])


def _in_rows(values: Array) -> Array:
    """Return values (steps, cars, ...) of a rollout in rows, all steps of the first car first."""
    moved = values.swapaxes(0, 1)
    return moved.reshape(moved.shape[0] * moved.shape[1], *moved.shape[2:])
