"""SAC and TD3 without PyTorch's overhead, beside stable-baselines3's own."""

import io
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3 import SAC, TD3
from stable_baselines3.common.buffers import NStepReplayBuffer
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.policies import BaseModel
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.vec_env import RacerVecEnv
from training.algorithms import fast_off_policy
from training.algorithms.fast_off_policy import FastOffPolicy
from training.algorithms.fast_sac import FastSAC
from training.algorithms.fast_td3 import FastTD3
from training.algorithms.registry import algorithm_named
from training.algorithms.settings import override
from training.checkpoints.loading import prepare

pytestmark = pytest.mark.timeout(60)

Kind = type[OffPolicyAlgorithm]
PAIRS = [pytest.param(FastSAC, SAC, id="SAC"), pytest.param(FastTD3, TD3, id="TD3")]
RELU = {"net_arch": [32, 16], "activation_fn": torch.nn.ReLU}
TANH = {"net_arch": {"pi": [16], "qf": [24, 8]}, "activation_fn": torch.nn.Tanh, "n_critics": 3}


def make_model(kind: Kind, steps: int = 320, **arguments: Any) -> Any:
    """Return a model that has driven for some steps, and has not learned yet."""
    prepare(3, "cpu")
    arguments = {"policy_kwargs": {**RELU}, "gradient_steps": 3, "batch_size": 64, "buffer_size": 200, **arguments}
    env = VecNormalize(RacerVecEnv(num_envs=4, random_start_share=0.5))
    noise = algorithm_named("TD3").arguments(algorithm_named("TD3").settings(), 4, 1)["action_noise"]
    model = kind("MlpPolicy", env, action_noise=noise, learning_starts=steps, seed=3, device="cpu", **arguments)  # type: ignore[call-arg]
    return model.learn(steps)


def in_double(model: Any) -> Any:
    """Return a model in double precision, with episodes in its buffer that ended, some as their time was up."""
    model.policy.double()
    model.replay_buffer.dones[::3] = 1.0
    model.replay_buffer.timeouts[::6] = 1.0
    for name in ("observations", "next_observations", "actions", "rewards", "dones", "timeouts"):
        setattr(model.replay_buffer, name, getattr(model.replay_buffer, name).astype(np.float64))
    return model


def weights_of(model: Any) -> dict[str, Any]:
    """Return everything that learning changes, by name."""
    weights = {name: weight.numpy() for name, weight in model.policy.state_dict().items()}
    logarithm = getattr(model, "log_ent_coef", None)
    return weights if logarithm is None else {**weights, "log_ent_coef": logarithm.detach().numpy()}


def assert_alike(own: Any, original: Any, tolerance: float) -> None:
    """Check that two models have the same weights and logs but for rounding."""
    ours, theirs = weights_of(own), weights_of(original)
    for name, weight in theirs.items():
        assert ours[name] == pytest.approx(weight, abs=tolerance), name
    logged, usual = own.logger.name_to_value, original.logger.name_to_value
    assert logged.keys() == usual.keys()
    for name in usual:
        if name.startswith("train/"):
            assert logged[name] == pytest.approx(usual[name], rel=tolerance, abs=tolerance), name


@pytest.mark.parametrize(("kind", "original"), PAIRS)
@pytest.mark.parametrize("network", [RELU, TANH])
def test_gradients_are_those_of_pytorch(
    kind: Kind, original: Kind, network: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In double precision: with an epsilon that large, Adam's steps are as long as they are."""
    monkeypatch.setattr(BaseModel, "extract_features", lambda self, seen, extractor: seen)  # which rounds to single
    monkeypatch.setattr(VecNormalize, "normalize_obs", lambda self, seen: 4.0 * seen - 2.0)
    monkeypatch.setattr(VecNormalize, "normalize_reward", lambda self, rewards: 50.0 * rewards)
    monkeypatch.setattr(fast_off_policy, "TOGETHER", 128)  # so that transitions are drawn in two parts
    models = []
    entropy = {"ent_coef": 0.1} if kind is FastSAC else {}
    for each in (kind, original):
        model = make_model(
            each, **entropy, policy_kwargs={**network, "optimizer_kwargs": {"eps": 1e3}}, learning_rate=50.0
        )
        model = in_double(model)
        torch.manual_seed(1)
        np.random.seed(1)  # noqa: NPY002 (as stable-baselines3 draws)
        model.train(gradient_steps=3, batch_size=64)
        models.append(model)
    assert_alike(*models, tolerance=1e-5 * 0.05)


@pytest.mark.parametrize(("kind", "original"), PAIRS)
@pytest.mark.parametrize("network", [RELU, {"net_arch": [16, 16], "activation_fn": torch.nn.ELU}])
def test_it_learns_and_drives_as_the_original_does(kind: Kind, original: Kind, network: dict[str, Any]) -> None:
    """The same weights but for rounding, and the same figures; other layers are left to the original."""
    models = [make_model(each, policy_kwargs={**network}) for each in (kind, original)]
    for model in models:
        torch.manual_seed(1)
        np.random.seed(1)  # noqa: NPY002 (as stable-baselines3 draws)
        model.learn(80, reset_num_timesteps=False)
    assert_alike(*models, tolerance=2e-3)
    ours, theirs = (model.replay_buffer.actions for model in models)
    assert ours == pytest.approx(theirs, abs=1e-3)


@pytest.mark.parametrize("weight", [0.1, "auto_0.1"])
def test_the_weight_of_the_entropy_may_be_fixed(weight: float | str) -> None:
    """It then stays, and nothing is logged about its loss."""
    models = [make_model(each, ent_coef=weight) for each in (FastSAC, SAC)]
    for model in models:
        torch.manual_seed(1)
        np.random.seed(1)  # noqa: NPY002 (as stable-baselines3 draws)
        model.train(gradient_steps=2, batch_size=64)
    assert_alike(*models, tolerance=1e-4)


@pytest.mark.parametrize(("kind", "original"), PAIRS)
def test_what_is_saved_is_an_ordinary_model(kind: Kind, original: Kind) -> None:
    """Which stable-baselines3 opens alone, drives and learns with; and the other way around."""
    model = make_model(kind).learn(80, reset_num_timesteps=False)
    seen = np.random.default_rng(0).normal(0, 1, (50, 14)).astype(np.float32)
    for other in (original, kind):
        file = io.BytesIO()
        model.save(file)
        assert b"training.algorithms" not in file.getvalue()
        file.seek(0)
        loaded: Any = other.load(file, env=VecNormalize(RacerVecEnv(num_envs=4)), device="cpu")
        theirs, ours = (each.predict(seen, deterministic=True)[0] for each in (loaded, model))
        assert theirs == pytest.approx(ours, abs=1e-6)
        updates, model = loaded._n_updates, loaded.learn(80, reset_num_timesteps=False)
        assert model._n_updates > updates


@pytest.mark.parametrize(
    "arguments",
    [
        {"use_sde": True},
        {"target_update_interval": 2},
        {"n_steps": 3},
        {"policy_kwargs": {"activation_fn": torch.nn.SiLU}},
        {"replay_buffer_kwargs": {"handle_timeout_termination": False}, "optimize_memory_usage": True},
    ],
)
def test_what_cannot_be_computed_is_left_to_the_original(arguments: dict[str, Any]) -> None:
    """The same weights, bit for bit."""
    models = [make_model(each, **arguments) for each in (FastSAC, SAC)]
    for model in models:
        torch.manual_seed(1)
        np.random.seed(1)  # noqa: NPY002 (as stable-baselines3 draws)
        model.learn(40, reset_num_timesteps=False)
    assert isinstance(models[0].replay_buffer, NStepReplayBuffer) == ("n_steps" in arguments)
    assert_alike(*models, tolerance=0.0)


@pytest.mark.parametrize(("kind", "original"), PAIRS)
def test_the_original_can_be_asked_for(kind: Kind, original: Kind) -> None:
    """By a hyper-parameter, of the same name as with PPO."""
    algorithm = algorithm_named(original.__name__)
    usual, plain = algorithm.settings(), override(algorithm.settings(), {"plain_policy": 1}, "a test")
    assert issubclass(kind, FastOffPolicy)
    assert (algorithm.training_class(usual), algorithm.training_class(plain)) == (kind, original)
