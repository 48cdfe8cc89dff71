"""PPO in one file, to be read from top to bottom and changed: ``python -m examples.cleanrl_ppo [STEPS]``.

It needs Gymnasium, PyTorch and the environment, nothing else. 64 cars drive in one call of ``envs.step``.
"""

import argparse
import time

import gymnasium
import numpy as np
import torch
from gymnasium.wrappers.vector import NormalizeObservation, NormalizeReward, RecordEpisodeStatistics
from torch import nn
from torch.distributions import Normal

import racer_env  # noqa: F401 (registers the environment; not needed after `pip install .`)

CARS, TICKS, EPOCHS, MINIBATCHES = 64, 64, 10, 4
LEARNING_RATE, GAMMA, LAMBDA = 1e-3, 0.99, 0.95
CLIP, VALUE_SHARE, MAX_GRADIENT = 0.2, 0.5, 0.5
SEED = 0

parser = argparse.ArgumentParser(prog="python -m examples.cleanrl_ppo", description=__doc__)
parser.add_argument("steps", type=int, nargs="?", default=200_000, help="ticks of all cars together (default: 200000)")
steps = parser.parse_args().steps

torch.set_num_threads(1)  # for networks this small, more threads only wait for each other
torch.manual_seed(SEED)

config = {"episode": {"maxSteps": 1000}}
envs = gymnasium.make_vec("TopDownRacer-v0", num_envs=CARS, config=config)
statistics = RecordEpisodeStatistics(envs)
envs = NormalizeReward(NormalizeObservation(statistics), gamma=GAMMA)
inputs, outputs = envs.single_observation_space.shape[0], envs.single_action_space.shape[0]


def network(size: int) -> nn.Sequential:
    """Return two hidden layers of 64 units and an output."""
    return nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, size))


actor, critic, log_std = network(outputs), network(1), nn.Parameter(torch.zeros(outputs))
parameters = [*actor.parameters(), *critic.parameters(), log_std]
optimizer = torch.optim.Adam(parameters, LEARNING_RATE, eps=1e-5)


def tensor(array: np.ndarray) -> torch.Tensor:
    """Return an array as a float32 tensor."""
    return torch.as_tensor(array, dtype=torch.float32)


seen, _ = envs.reset(seed=SEED)
observation, is_over = tensor(seen), torch.zeros(CARS)
began = time.perf_counter()
for update in range(max(1, steps // (CARS * TICKS))):
    # Drive. `is_over` marks cars whose episode has ended: in their next step they only begin another one.
    rollout = []
    for _ in range(TICKS):
        with torch.no_grad():
            policy, value = Normal(actor(observation), log_std.exp()), critic(observation).squeeze(-1)
            action = policy.sample()
        seen, reward, terminated, truncated, _ = envs.step(action.numpy())
        following = tensor(seen)
        with torch.no_grad():
            next_value = critic(following).squeeze(-1)  # after a time limit as well: the road goes on
        log_probability = policy.log_prob(action).sum(-1)
        ends, wasted = tensor(terminated), is_over
        rollout.append((observation, action, log_probability, tensor(reward), value, next_value, ends, wasted))
        observation, is_over = following, tensor(terminated | truncated)

    # Advantages, from the last tick to the first; none flows from one episode into the one before.
    observations, actions, old_log, rewards, values, next_values, terminals, unused = map(
        torch.stack, zip(*rollout, strict=True)
    )
    advantages, advantage, over = torch.zeros_like(rewards), torch.zeros(CARS), is_over
    for tick in reversed(range(TICKS)):
        error = rewards[tick] + GAMMA * (1 - terminals[tick]) * next_values[tick] - values[tick]
        advantage = error + GAMMA * LAMBDA * (1 - over) * advantage
        advantages[tick], over = advantage, unused[tick]
    returns = advantages + values

    # Learn from the ticks on which the policy was at the wheel.
    drove = torch.nonzero(unused.flatten() == 0).squeeze(-1)
    data = [each.flatten(0, 1)[drove] for each in (observations, actions, old_log, advantages, returns)]
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(drove)).chunk(MINIBATCHES):
            some_observations, some_actions, some_log, gain, target = (each[batch] for each in data)
            policy = Normal(actor(some_observations), log_std.exp())
            ratio = (policy.log_prob(some_actions).sum(-1) - some_log).exp()
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            policy_loss = -torch.min(gain * ratio, gain * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
            value_loss = (critic(some_observations).squeeze(-1) - target).pow(2).mean()
            optimizer.zero_grad()
            (policy_loss + VALUE_SHARE * value_loss).backward()
            nn.utils.clip_grad_norm_(parameters, MAX_GRADIENT)
            optimizer.step()

    done = (update + 1) * CARS * TICKS
    if (update + 1) % 10 == 0 or done + CARS * TICKS > steps:
        latest = f"{np.mean(statistics.return_queue):.2f}" if statistics.return_queue else "none yet"
        print(f"{done:,} steps, {done / (time.perf_counter() - began):,.0f} steps/s, mean return {latest}")
envs.close()
