"""The forward pass without PyTorch."""

from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO, SAC, TD3
from stable_baselines3.common.base_class import BaseAlgorithm

from racer_env.vec_env import RacerVecEnv
from training.algorithms.forward import SAMPLES
from training.algorithms.inference import layers_of, make_inference
from training.algorithms.plain import Scaling
from training.algorithms.registry import algorithm_named


def fresh(name: str, **network: Any) -> BaseAlgorithm:
    """Return a model whose weights are large enough that outputs differ."""
    make: Any = {"PPO": PPO, "SAC": SAC, "TD3": TD3}[name]
    model: BaseAlgorithm = make("MlpPolicy", RacerVecEnv(), policy_kwargs=network, seed=1, device="cpu")
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return model


@pytest.mark.parametrize(
    ("name", "network"),
    [
        ("PPO", {"net_arch": [64, 64]}),
        ("PPO", {"net_arch": [32], "activation_fn": torch.nn.ReLU}),
        ("SAC", {"net_arch": [64, 64]}),
        ("TD3", {"net_arch": [24, 16, 8]}),
    ],
)
def test_actions_are_those_of_the_model(name: str, network: dict[str, Any]) -> None:
    """To 1e-6, for one car and for many, and without asking the model."""
    model = fresh(name, **network)
    infer = make_inference(algorithm_named(name), model)
    seen = np.random.default_rng(0).normal(0.0, 1.0, (100, 14)).astype(np.float32)
    expected = model.predict(seen, deterministic=True)[0]
    model.predict = None  # type: ignore[method-assign, assignment]
    assert np.abs(infer(seen) - expected).max() <= 1e-6
    assert np.abs(infer(seen[:1]) - expected[:1]).max() <= 1e-6


def test_observations_are_scaled_as_the_model_takes_them() -> None:
    """In double precision, as in training."""
    model, random = fresh("PPO"), np.random.default_rng(0)
    scaling = Scaling(random.normal(0.0, 0.3, 14), random.uniform(0.1, 0.5, 14), 2.0)
    infer = make_inference(algorithm_named("PPO"), model, scaling)
    expected = model.predict(scaling(SAMPLES), deterministic=True)[0]
    model.predict = None  # type: ignore[method-assign, assignment]
    assert np.abs(infer(SAMPLES) - expected).max() <= 1e-6


def test_the_weights_are_those_of_now() -> None:
    """An evaluation in training is of the model as it is."""
    model = fresh("PPO")
    make_inference(algorithm_named("PPO"), model)
    with torch.no_grad():
        model.policy.action_net.bias += 0.5  # type: ignore[operator, union-attr]
    infer = make_inference(algorithm_named("PPO"), model)
    assert np.abs(infer(SAMPLES) - model.predict(SAMPLES, deterministic=True)[0]).max() <= 1e-6


def test_other_networks_are_asked_themselves() -> None:
    """Nothing here computes an ELU."""
    assert layers_of(torch.nn.Linear(2, 2), torch.nn.ELU()) is None
    model = fresh("PPO", activation_fn=torch.nn.ELU)
    infer = make_inference(algorithm_named("PPO"), model)
    assert np.array_equal(infer(SAMPLES), model.predict(SAMPLES, deterministic=True)[0])


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("entry_point", lambda kernel, arguments: lambda seen, numbers: np.zeros((len(seen), 3), np.float32)),
        ("ForwardPass._drive_many", lambda self, seen: np.zeros((len(seen), 3), np.float32)),
    ],
)
def test_a_network_that_differs_is_asked_itself(part: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not equal to 1e-6, for a few cars or for many, is not used."""
    model = fresh("PPO")
    monkeypatch.setattr(f"training.algorithms.forward.{part}", wrong)
    infer = make_inference(algorithm_named("PPO"), model)
    assert np.array_equal(infer(SAMPLES), model.predict(SAMPLES, deterministic=True)[0])


def test_two_activations_in_a_row_are_left_to_the_model() -> None:
    """A layer has one at most."""
    model = fresh("PPO")
    policy: Any = model.policy
    policy.mlp_extractor.policy_net.append(torch.nn.ReLU())
    infer = make_inference(algorithm_named("PPO"), model)
    assert np.array_equal(infer(SAMPLES), model.predict(SAMPLES, deterministic=True)[0])
