"""PPO as stable-baselines3 computes it, without PyTorch's overhead on networks this small.

Driving takes NumPy's forward pass. Learning takes gradients that are written out here, with PyTorch's products and its
Adam. Random numbers are drawn as stable-baselines3 draws them, so both learn the same but for rounding. What cannot be
computed here, such as other layers or a network on a GPU, is left to the classes that these extend. Saved models are
ordinary ones of stable-baselines3.
"""

import math
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.distributions import DiagGaussianDistribution
from stable_baselines3.common.policies import ActorCriticPolicy, BasePolicy
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.common.type_aliases import PyTorchObs
from stable_baselines3.common.utils import explained_variance

from training.algorithms.inference import ACTIVATIONS, Layers, layers_of

HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)

Array = npt.NDArray[Any]

# Gradients of what goes into an activation, given those of its values, and the values.
SLOPES: dict[type[torch.nn.Module], Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    torch.nn.Tanh: torch.ops.aten.tanh_backward,
    torch.nn.ReLU: lambda above, values: torch.ops.aten.threshold_backward(above, values, 0),
}


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


class FastPolicy(ActorCriticPolicy):
    """The policy and value networks of PPO."""

    def plain_layers(self) -> tuple[Layers, Layers] | None:
        """Return the layers of policy and value function; None if they are left to stable-baselines3."""
        is_plain = isinstance(self.action_dist, DiagGaussianDistribution)
        if not is_plain or type(self.features_extractor) is not FlattenExtractor:
            return None
        actor = layers_of(self.mlp_extractor.policy_net, self.action_net)
        critic = layers_of(self.mlp_extractor.value_net, self.value_net)
        return None if actor is None or critic is None else (actor, critic)

    def _layers_to_drive(self) -> tuple[Layers, Layers] | None:
        """Return the layers; they are looked at once, as weights stay in their memory once training has begun."""
        if "_found" not in vars(self):
            self._found = self.plain_layers()
        return None if torch.is_grad_enabled() else self._found

    def forward(
        self, obs: torch.Tensor, deterministic: bool = False
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return actions (N, 3), values (N, 1) and logarithms of probabilities (N,) for observations (N, 14)."""
        layers = self._layers_to_drive()
        if layers is None:
            return super().forward(obs, deterministic)
        seen, log_std = obs.numpy(), self.log_std.detach().numpy()
        means, values = (each(seen) for each in layers)
        noise = np.zeros_like(means) if deterministic else torch.randn(means.shape).numpy()
        actions = means + noise * np.exp(log_std)
        return torch.from_numpy(actions), torch.from_numpy(values), torch.from_numpy(_log_probs(noise, log_std))

    def predict_values(self, obs: PyTorchObs) -> torch.Tensor:
        """Return values (N, 1) for observations (N, 14)."""
        layers = self._layers_to_drive()
        if layers is None or not isinstance(obs, torch.Tensor):
            return super().predict_values(obs)
        return torch.from_numpy(layers[1](obs.numpy()))


class FastPPO(PPO):
    """PPO with a faster policy and a faster update."""

    policy_aliases: ClassVar[dict[str, type[BasePolicy]]] = {**PPO.policy_aliases, "MlpPolicy": FastPolicy}

    def _setup_model(self) -> None:
        super()._setup_model()
        self.policy_class = PPO.policy_aliases["MlpPolicy"]  # which its file names, as it holds the same weights
        for group in self.policy.optimizer.param_groups:
            group["fused"] = self.device.type == "cpu" or group["fused"]

    def _update_info_buffer(self, infos: list[dict[str, Any]], dones: Array | None = None) -> None:
        """Note finished episodes; only those are told, by the monitor."""
        ended = range(len(infos)) if dones is None else np.flatnonzero(dones).tolist()
        if ended:
            super()._update_info_buffer([infos[car] for car in ended], np.ones(len(ended), np.bool_))

    def train(self) -> None:
        """Update the networks with the last rollout."""
        learner = Learner.of(self.policy) if self.clip_range_vf is None and self.target_kl is None else None
        if learner is None:
            super().train()
            return
        self._update_learning_rate(self.policy.optimizer)
        for group in self.policy.optimizer.param_groups:
            group["fused"] = True  # one call for all weights; a model from elsewhere may have brought other options
        schedule: Any = self.clip_range
        clip_range = float(schedule(self._current_progress_remaining))
        weighing = Weighing(clip_range, float(self.ent_coef), float(self.vf_coef), self.normalize_advantage)
        buffer, told = self.rollout_buffer, []
        names = ("observations", "actions", "log_probs", "advantages", "returns")
        rollout = Batch(*(_in_rows(getattr(buffer, name)) for name in names))
        for _ in range(self.n_epochs):
            order = np.random.permutation(len(rollout.observations))  # noqa: NPY002 (as stable-baselines3 does)
            shuffled = Batch(*(part[order] for part in rollout))
            epoch = []
            for first in range(0, len(order), self.batch_size):
                batch = Batch(*(part[first : first + self.batch_size] for part in shuffled))
                epoch.append(learner.find_gradients(batch, weighing))
                learner.clip_gradients(self.max_grad_norm)
                self.policy.optimizer.step()
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


class Learner:
    """Finds gradients of PPO's loss; those of all weights lie in one array, which their ``grad`` are views of."""

    def __init__(self, policy: Any, layers: tuple[Layers, Layers]) -> None:
        """Prepare for the layers of policy and value function; the gradients begin at 0."""
        parameters = list(policy.parameters())
        self._policy = policy
        self._modules = [each.modules for each in layers]
        flat = torch.zeros(sum(parameter.numel() for parameter in parameters), dtype=policy.log_std.dtype)
        self._flat, first = flat.numpy(), 0
        for parameter in parameters:
            parameter.grad = flat[first : first + parameter.numel()].view_as(parameter)
            first += parameter.numel()

    @classmethod
    def of(cls, policy: Any) -> "Learner | None":
        """Return what learns for a policy; None if that is left to PyTorch."""
        layers = policy.plain_layers() if isinstance(policy, FastPolicy) else None
        return None if layers is None else cls(policy, layers)

    def find_gradients(self, batch: Batch, weighing: Weighing) -> Losses:
        """Set the gradients of all weights for some steps.

        Source: Schulman et al. (2017), "Proximal policy optimization algorithms", equations 7 and 9.
        """
        count, log_std = len(batch.observations), self._policy.log_std.detach().numpy()
        seen = torch.from_numpy(batch.observations)
        traces = [_trace(modules, seen) for modules in self._modules]
        means, values = (trace[-1].numpy() for trace in traces)
        noise = (batch.actions - means) / np.exp(log_std)
        advantages = batch.advantages
        if weighing.normalises and count > 1:
            advantages = (advantages - advantages.mean()) / (advantages.std(ddof=1) + 1e-8)
        log_ratios = _log_probs(noise, log_std) - batch.log_probs
        ratios = np.exp(log_ratios)
        gains = advantages * ratios
        bounded = advantages * np.minimum(np.maximum(ratios, 1.0 - weighing.clip_range), 1.0 + weighing.clip_range)
        errors = values[:, 0] - batch.returns

        of_log_probs = np.where(gains <= bounded, gains, 0.0).astype(gains.dtype) / -count
        weighted = of_log_probs[:, None] * noise
        of_log_std = np.einsum("ij,ij->j", weighted, noise) - of_log_probs.sum() - weighing.entropy
        self._policy.log_std.grad.numpy()[:] = of_log_std
        of_values = errors[:, None] * errors.dtype.type(2.0 * weighing.value / count)
        for modules, trace, above in zip(self._modules, traces, (weighted / np.exp(log_std), of_values), strict=True):
            _set_gradients(modules, trace, torch.from_numpy(above))

        policy_loss, value_loss = -float(np.minimum(gains, bounded).mean()), float(np.square(errors).mean())
        entropy_loss = -float(log_std.sum() + (0.5 + HALF_LOG_TAU) * len(log_std))
        return Losses(
            entropy_loss=entropy_loss,
            policy_gradient_loss=policy_loss,
            value_loss=value_loss,
            approx_kl=float((ratios - 1.0 - log_ratios).mean()),
            clip_fraction=float((np.abs(ratios - 1.0) > weighing.clip_range).mean()),
            loss=policy_loss + weighing.entropy * entropy_loss + weighing.value * value_loss,
        )

    def clip_gradients(self, most: float) -> None:
        """Shorten the gradient of all weights to a norm of ``most``, as PyTorch does."""
        norm = math.sqrt(float(self._flat @ self._flat))
        if most / (norm + 1e-6) < 1.0:
            self._flat *= most / (norm + 1e-6)


def _in_rows(values: Array) -> Array:
    """Return values (steps, cars, ...) of a rollout in rows, all steps of the first car first."""
    moved = values.swapaxes(0, 1)
    return moved.reshape(moved.shape[0] * moved.shape[1], *moved.shape[2:])


def _log_probs(noise: Array, log_std: Array) -> Array:
    """Return the logarithms of the densities (N,) of normal distributions, given how many deviations off (N, 3)."""
    constant = log_std.sum() + log_std.dtype.type(HALF_LOG_TAU * len(log_std))
    result: Array = np.einsum("ij,ij->i", noise, noise) * log_std.dtype.type(-0.5) - constant
    return result


@torch.no_grad()
def _trace(modules: list[torch.nn.Module], observations: torch.Tensor) -> list[torch.Tensor]:
    """Return the inputs of each linear layer, and the outputs (N, out); activations work in place.

    With many rows, PyTorch's products are as fast as NumPy's, and add the biases on their way. Its tanh is as fast as
    NumPy's on some processors, and six times as slow on others.
    """
    trace = [observations]
    for module in modules:
        if isinstance(module, torch.nn.Linear):
            trace.append(torch.addmm(module.bias, trace[-1], module.weight.t()))
        else:
            ACTIVATIONS[type(module)](trace[-1].numpy())
    return trace


@torch.no_grad()
def _set_gradients(modules: list[torch.nn.Module], trace: list[torch.Tensor], above: torch.Tensor) -> None:
    """Set the gradients of all weights and biases.

    Args:
        modules: The layers.
        trace: What ``_trace`` has returned.
        above: Gradients (N, out) of the outputs.
    """
    place = len(trace) - 1
    for module in reversed(modules):
        if isinstance(module, torch.nn.Linear):
            place -= 1
            torch.sum(above, 0, out=module.bias.grad)
            torch.mm(above.t(), trace[place], out=module.weight.grad)
            if place > 0:
                above = torch.mm(above, module.weight)
        else:
            above = SLOPES[type(module)](above, trace[place])
