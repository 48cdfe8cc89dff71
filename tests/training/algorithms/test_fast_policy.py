"""PPO without PyTorch's overhead, beside stable-baselines3's own."""

import io
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from stable_baselines3.common.policies import ActorCriticPolicy

from racer_env.config import AiConfig
from racer_env.contract import EpisodeLimits
from racer_env.vec_env import RacerVecEnv
from training.algorithms.fast_policy import FastPPO, plain_layers
from training.algorithms.registry import algorithm_named
from training.algorithms.settings import override

RANDOM = np.random.default_rng(0)


def make_model(kind: type[PPO], **network: Any) -> PPO:
    """Return a fresh model of four cars, whose episodes are cut off after 20 ticks."""
    env = RacerVecEnv(num_envs=4, config=AiConfig(episode=EpisodeLimits(max_steps=20)))
    arguments: dict[str, Any] = {"n_steps": 32, "batch_size": 64, "n_epochs": 3, "seed": 3, "device": "cpu"}
    return kind("MlpPolicy", env, policy_kwargs=network, ent_coef=0.01, **arguments)


class Until(BaseCallback):
    """Ends a run at a step, and keeps the names of what it saw there."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self._steps = steps
        self.seen: set[str] = set()

    def _on_step(self) -> bool:
        self.seen = {"new_obs", "rewards", "dones", "infos"} & set(self.locals)
        return self.num_timesteps < self._steps


def drive(model: OnPolicyAlgorithm, callback: BaseCallback) -> bool:
    """Let a model drive a rollout."""
    model.set_logger(Logger(None, []))
    _, callback = model._setup_learn(10_000, callback)
    assert model.env is not None
    return model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)


def test_it_drives_as_the_original_does() -> None:
    """The same noise of the same seed; what a rollout holds to 1e-5, also where episodes are cut off."""
    models: list[PPO] = []
    for kind in (FastPPO, PPO):
        models.append(make_model(kind))  # which seeds what both draw from
        assert drive(models[-1], Until(10_000))
    own, original = models
    ours, theirs = own.rollout_buffer, original.rollout_buffer
    assert ours.full
    assert theirs.episode_starts[1:].any()
    names = ("observations", "actions", "rewards", "episode_starts", "values", "log_probs", "advantages", "returns")
    for name in names:
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), abs=1e-5), name
    assert own._last_obs == pytest.approx(original._last_obs, abs=1e-6)


def test_a_callback_sees_each_step_and_may_end_a_rollout() -> None:
    """At once, as with the original."""
    model, callback = make_model(FastPPO), Until(40)
    assert not drive(model, callback)
    assert model.num_timesteps == 40
    assert callback.seen == {"new_obs", "rewards", "dones", "infos"}


def test_what_it_cannot_compute_is_left_to_the_original() -> None:
    """Other layers, and noise of the state."""
    assert plain_layers(make_model(FastPPO).policy) is not None
    assert plain_layers(make_model(FastPPO, activation_fn=torch.nn.ELU).policy) is None
    assert plain_layers(FastPPO("MlpPolicy", RacerVecEnv(), use_sde=True, device="cpu").policy) is None


def trained(kind: type[PPO], **network: Any) -> PPO:
    """Return a model after three rollouts of few steps."""
    return make_model(kind, **network).learn(384)


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
    FastPPO.load(file, env=RacerVecEnv(num_envs=4), device="cpu").learn(128)


def test_plain_ppo_can_be_asked_for() -> None:
    """By a hyper-parameter."""
    ppo = algorithm_named("PPO")
    usual, plain = ppo.settings(), override(ppo.settings(), {"plain_policy": 1}, "a test")
    assert (ppo.training_class(usual), ppo.training_class(plain)) == (FastPPO, PPO)
