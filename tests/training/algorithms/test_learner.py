"""Gradients and steps written out, beside PyTorch's own."""

import copy
import io
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3.common.policies import ActorCriticPolicy

from racer_env.spaces import make_action_space, make_observation_space
from training.algorithms.fast_policy import plain_layers
from training.algorithms.learner import Adam, Batch, Learner, Weighing

RANDOM = np.random.default_rng(0)


def make_policy(**network: Any) -> ActorCriticPolicy:
    """Return a policy whose seed is fixed."""
    torch.manual_seed(0)
    return ActorCriticPolicy(make_observation_space(), make_action_space(), lambda _: 1e-3, **network)


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
    policy: Any = make_policy(**network).double()
    batch, weighing = make_batch(200), Weighing(0.2, 0.01, 0.5, True)
    loss = loss_by_torch(policy, batch, weighing)
    loss.backward()
    expected = {name: weight.grad.clone() for name, weight in policy.named_parameters()}
    layers = plain_layers(policy)
    assert layers is not None
    learner = Learner(policy, layers)
    for rows in (150, 200):  # the last minibatch of a rollout may be a smaller one
        losses = learner.find_gradients(batch.between(0, rows), weighing)
    assert losses.loss == pytest.approx(loss.item())
    for name, weight in policy.named_parameters():
        assert weight.grad.numpy() == pytest.approx(expected[name].numpy(), abs=1e-5), name
    norm = torch.nn.utils.clip_grad_norm_(copy.deepcopy(policy).parameters(), 0.1)
    assert norm == 0.0  # a copy has no gradients
    learner.clip_gradients(0.1)
    assert torch.cat([weight.grad.flatten() for weight in policy.parameters()]).norm().item() == pytest.approx(0.1)


def make_optimizer() -> tuple[list[torch.nn.Parameter], torch.optim.Adam]:
    """Return some weights, and what changes them."""
    weights = [torch.nn.Parameter(torch.linspace(-1, 1, 12).view(3, 4)), torch.nn.Parameter(torch.ones(5))]
    return weights, torch.optim.Adam(weights, lr=0.01, eps=1e-5)


def go(weights: list[torch.nn.Parameter], step: Any, steps: range) -> None:
    """Step with gradients that depend on the number of the step."""
    for number in steps:
        for weight in weights:
            gradient = torch.cos(torch.arange(weight.numel()) + float(number)).view_as(weight)
            if weight.grad is None:
                weight.grad = gradient
            else:
                weight.grad.copy_(gradient)
        step()


def test_steps_are_those_of_pytorch() -> None:
    """From the first on, and where PyTorch has done some before, or goes on."""
    ours, optimizer = make_optimizer()
    theirs, original = make_optimizer()
    go(theirs, original.step, range(30))
    go(ours, optimizer.step, range(5))
    go(ours, Adam(optimizer).step, range(5, 15))
    go(ours, Adam(optimizer).step, range(15, 25))
    go(ours, optimizer.step, range(25, 30))
    for one, other in zip(ours, theirs, strict=True):
        assert one.detach().numpy() == pytest.approx(other.detach().numpy(), abs=1e-6)
        assert float(optimizer.state[one]["step"]) == 30


def test_a_saved_optimizer_goes_on_alone() -> None:
    """What a file holds is counted once for each weight."""
    ours, optimizer = make_optimizer()
    go(ours, Adam(optimizer).step, range(10))
    file = io.BytesIO()
    torch.save(optimizer.state_dict(), file)
    file.seek(0)
    weights, other = make_optimizer()
    other.load_state_dict(torch.load(file, weights_only=True))
    go(weights, other.step, range(10, 12))
    assert [float(state["step"]) for state in other.state.values()] == [12, 12]


def test_only_plain_adam_is_taken_over() -> None:
    """What few use is left to PyTorch."""
    weights, plain = make_optimizer()
    assert Adam.steps_as(plain)
    assert not Adam.steps_as(torch.optim.AdamW(weights))
    assert not Adam.steps_as(torch.optim.Adam(weights, weight_decay=0.1))
    assert not Adam.steps_as(torch.optim.Adam(weights, amsgrad=True))
    assert not Adam.steps_as(torch.optim.Adam([{"params": weights[:1]}, {"params": weights[1:]}]))
