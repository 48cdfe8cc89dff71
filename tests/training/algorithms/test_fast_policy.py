"""PPO without PyTorch's overhead, beside stable-baselines3's own."""

import copy
import io
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.policies import ActorCriticPolicy

from racer_env.spaces import make_action_space, make_observation_space
from racer_env.vec_env import RacerVecEnv
from training.algorithms.fast_policy import Batch, FastPolicy, FastPPO, Learner, Weighing
from training.algorithms.registry import algorithm_named
from training.algorithms.settings import override

RANDOM = np.random.default_rng(0)


def make_policy(kind: type[ActorCriticPolicy], **network: Any) -> ActorCriticPolicy:
    """Return a policy whose seed is fixed."""
    torch.manual_seed(0)
    return kind(make_observation_space(), make_action_space(), lambda _: 1e-3, **network)


def make_batch(count: int) -> Batch:
    """Return steps in double precision, of which half are beyond the range within which a policy may change."""
    normal = RANDOM.normal
    return Batch(normal(0, 1, (count, 14)), normal(0, 1, (count, 3)), normal(-3, 1, count), *normal(0, 1, (2, count)))


def loss_by_torch(policy: Any, batch: Batch, weighing: Weighing) -> torch.Tensor:
    """Return PPO's loss as stable-baselines3 computes it."""
    observations, actions, old, advantages, returns = map(torch.from_numpy, batch)
    means = policy.action_net(policy.mlp_extractor.policy_net(observations))
    values = policy.value_net(policy.mlp_extractor.value_net(observations)).flatten()
    normal = torch.distributions.Normal(means, policy.log_std.exp().expand_as(means))
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    ratio = (normal.log_prob(actions).sum(1) - old).exp()
    bounded = ratio.clamp(1 - weighing.clip_range, 1 + weighing.clip_range)
    loss: torch.Tensor = -torch.min(advantages * ratio, advantages * bounded).mean()
    entropy = normal.entropy().sum(1).mean()
    return loss - weighing.entropy * entropy + weighing.value * (values - returns).square().mean()


@pytest.mark.parametrize(
    "network",
    [{"net_arch": [64, 64]}, {"net_arch": [32, 16, 8], "activation_fn": torch.nn.ReLU}, {"net_arch": []}],
)
def test_gradients_are_those_of_pytorch(network: dict[str, Any]) -> None:
    """In double precision, of every weight."""
    policy: Any = make_policy(FastPolicy, **network).double()
    batch, weighing = make_batch(200), Weighing(0.2, 0.01, 0.5, True)
    loss = loss_by_torch(policy, batch, weighing)
    loss.backward()
    expected = {name: weight.grad.clone() for name, weight in policy.named_parameters()}
    learner = Learner.of(policy)
    assert learner is not None
    losses = learner.find_gradients(batch, weighing)
    assert losses.loss == pytest.approx(loss.item())
    for name, weight in policy.named_parameters():
        assert weight.grad.numpy() == pytest.approx(expected[name].numpy(), abs=1e-5), name
    norm = torch.nn.utils.clip_grad_norm_(copy.deepcopy(policy).parameters(), 0.1)
    assert norm == 0.0  # a copy has no gradients
    learner.clip_gradients(0.1)
    assert torch.cat([weight.grad.flatten() for weight in policy.parameters()]).norm().item() == pytest.approx(0.1)


def test_it_drives_as_the_original_does() -> None:
    """The same noise of the same seed; actions, values and probabilities to 1e-5."""
    own, original = make_policy(FastPolicy, net_arch=[64, 64]), make_policy(ActorCriticPolicy, net_arch=[64, 64])
    seen = torch.from_numpy(RANDOM.normal(0, 1, (64, 14)).astype(np.float32))
    for deterministic in (False, True):
        told = []
        for policy in (own, original):
            torch.manual_seed(1)
            with torch.no_grad():
                told.append([*policy(seen, deterministic), policy.predict_values(seen)])
        for one, other in zip(*told, strict=True):
            assert one.numpy() == pytest.approx(other.numpy(), abs=1e-5)


def trained(kind: type[PPO], **network: Any) -> PPO:
    """Return a model after three rollouts of few steps."""
    arguments: dict[str, Any] = {"n_steps": 32, "batch_size": 64, "n_epochs": 3, "seed": 3, "device": "cpu"}
    return kind("MlpPolicy", RacerVecEnv(num_envs=4), policy_kwargs=network, ent_coef=0.01, **arguments).learn(384)


@pytest.mark.parametrize("network", [{"net_arch": [64, 64]}, {"activation_fn": torch.nn.ELU}])
def test_it_learns_as_the_original_does(network: dict[str, Any]) -> None:
    """The same weights but for rounding, and the same figures; other layers are left to the original."""
    own, original = trained(FastPPO, **network), trained(PPO, **network)
    for (name, one), other in zip(own.policy.named_parameters(), original.policy.parameters(), strict=True):
        assert one.detach().numpy() == pytest.approx(other.detach().numpy(), abs=2e-3), name
    logged, usual = own.logger.name_to_value, original.logger.name_to_value
    assert logged.keys() == usual.keys()
    for name in ("train/entropy_loss", "train/value_loss", "train/clip_fraction", "train/std", "train/n_updates"):
        assert logged[name] == pytest.approx(usual[name], rel=0.05, abs=0.01), name


def test_what_is_saved_is_an_ordinary_model() -> None:
    """Which stable-baselines3 opens alone, and which drives and learns there."""
    model, file = trained(FastPPO), io.BytesIO()
    model.save(file)
    assert b"training.algorithms" not in file.getvalue()
    file.seek(0)
    plain = PPO.load(file, env=RacerVecEnv(num_envs=4), device="cpu")
    assert type(plain.policy) is ActorCriticPolicy
    seen = RANDOM.normal(0, 1, (50, 14)).astype(np.float32)
    theirs, ours = (one.predict(seen, deterministic=True)[0] for one in (plain, model))
    assert theirs == pytest.approx(ours, abs=1e-6)
    plain.learn(128)
    file.seek(0)
    resumed = FastPPO.load(file, env=RacerVecEnv(num_envs=4), device="cpu", custom_objects={"policy_class": FastPolicy})
    assert type(resumed.policy) is FastPolicy
    resumed.learn(128)


def test_plain_ppo_can_be_asked_for() -> None:
    """By a hyper-parameter."""
    ppo = algorithm_named("PPO")
    usual, plain = ppo.settings(), override(ppo.settings(), {"plain_policy": 1}, "a test")
    assert (ppo.training_class(usual), ppo.training_class(plain)) == (FastPPO, PPO)
