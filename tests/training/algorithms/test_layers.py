"""Networks of one's own: layers and activation in training, in files, in exports, and of models brought along."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stable_baselines3
import torch
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.errors import ModelError
from racer_env.vec_env import RacerVecEnv
from tests.runs import SMALL_SAC, data_of, load, ppo, rewritten, sac, td3, weights
from training import export_onnx
from training.algorithms.layers import ACTIVATIONS
from training.checkpoints.data import read_model_data
from training.drivers.loading import load_driver
from training.runs.changes import own_settings

pytestmark = pytest.mark.timeout(60)
OWN = ("--set", "hidden=24,16,8", "--set", "activation=ELU")


def layers_of(network: torch.nn.Module) -> list[Any]:
    """Return the sizes and activations of a network."""
    return [
        part.out_features if isinstance(part, torch.nn.Linear) else type(part).__name__
        for part in network.modules()
        if not [*part.children()]
    ]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a PPO run ``own`` of three layers with ELU; to be read only."""
    folder = tmp_path_factory.mktemp("own")
    assert ppo(folder, "--run-name", "own", "--timesteps", "4096", *OWN) == 0
    return folder


def test_layers_and_activation_reach_the_network_and_its_file(own: Path) -> None:
    """stable-baselines3 alone opens it."""
    path = own / "models" / "own_final.zip"
    for model in (load(path), stable_baselines3.PPO.load(path, device="cpu")):
        policy: Any = model.policy
        for network in (policy.mlp_extractor.policy_net, policy.mlp_extractor.value_net):
            assert layers_of(network) == [24, "ELU", 16, "ELU", 8, "ELU"]
    assert data_of(own, "own_final").attributes["hyperparameters"]["hidden"] == [24, 16, 8]


def test_they_are_carried(own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By a resumed run and by one that begins with its weights; another network is refused."""
    folder = Path(shutil.copytree(own, tmp_path / "copy"))
    source = folder / "models" / "own_final.zip"
    steps = read_model_data(source).steps
    beginning = ["--initialize-from", "own", "--run-name", "next", "--set", "learning_rate=0"]
    assert ppo(folder, *beginning, "--timesteps", "4096") == 0
    for one, other in zip(weights(source), weights(folder / "models" / "next_final.zip"), strict=True):
        assert np.array_equal(one, other)
    assert ppo(folder, "--resume", "own", "--timesteps", "4096", "--set", "activation=tanh") == 2
    assert "own_final.zip began as elu and cannot change" in capsys.readouterr().err
    assert ppo(folder, "--resume", "own", "--timesteps", "4096") == 0
    assert own_settings(read_model_data(source))["activation"] == "elu"
    assert load(source).num_timesteps == 2 * steps


def test_an_export_of_them_equals_the_model(tmp_path: Path) -> None:
    """The export compares actions itself; this activation is several operators of ONNX."""
    network = ("--set", "hidden=16,16,16,16,16,16,16,16", "--set", "activation=gelu")
    assert ppo(tmp_path, "--run-name", "own", "--timesteps", "1", *network) == 0
    model, folder = str(tmp_path / "models" / "own_final"), str(tmp_path / "out")
    assert export_onnx.main(["--model", model, "--output-dir", folder]) == 0


@pytest.mark.parametrize(("train", "plain"), [(sac, stable_baselines3.SAC), (td3, stable_baselines3.TD3)])
def test_algorithms_with_a_replay_buffer_have_them_too(
    tmp_path: Path, train: Callable[..., int], plain: type[Any]
) -> None:
    """In actor and critics, after going on as well."""
    assert train(tmp_path, "--run-name", "own", "--timesteps", "60", *SMALL_SAC, *OWN) == 0
    assert train(tmp_path, "--resume", "own", "--timesteps", "8", *SMALL_SAC) == 0
    policy = plain.load(tmp_path / "models" / "own_final.zip", device="cpu").policy
    assert layers_of(policy.actor)[:8] == ["Flatten", 24, "ELU", 16, "ELU", 8, "ELU", 3]
    assert layers_of(policy.critic.qf0)[:6] == [24, "ELU", 16, "ELU", 8, "ELU"]


def save_plain(folder: Path, **network: Any) -> Path:
    """Save an untrained PPO model ``plain`` of stable-baselines3 alone, with its statistics."""
    env = VecNormalize(RacerVecEnv("track-01", 2))
    (folder / "models").mkdir()
    path = folder / "models" / "plain_final.zip"
    stable_baselines3.PPO("MlpPolicy", env, n_steps=64, device="cpu", policy_kwargs=network).save(path)
    env.save(str(folder / "models" / "plain_final_vecnormalize.pkl"))
    return path


def test_networks_that_were_brought_along_are_kept(tmp_path: Path) -> None:
    """With other layers for value and policy, and ReLU, in going on and in a new run."""
    path = save_plain(tmp_path, net_arch={"pi": [32, 16], "vf": [64]}, activation_fn=torch.nn.ReLU)
    known = own_settings(read_model_data(path))
    assert (known["hidden"], known["activation"]) == ([32, 16], "relu")
    for name, options in (
        ("next", ["--initialize-from", "plain", "--run-name", "next"]),
        ("plain", ["--resume", "plain"]),
    ):
        assert ppo(tmp_path, *options, "--timesteps", "64", "--num-envs", "64") == 0
        policy: Any = load(tmp_path / "models" / f"{name}_final.zip").policy
        assert layers_of(policy.mlp_extractor.policy_net) == [32, "ReLU", 16, "ReLU"]
        assert layers_of(policy.mlp_extractor.value_net) == [64, "ReLU"]


def test_a_network_with_noise_that_depends_on_the_state_begins_a_run(tmp_path: Path) -> None:
    """Its weights of the noise fit."""
    path = save_plain(tmp_path)
    model = stable_baselines3.PPO("MlpPolicy", RacerVecEnv("track-01", 2), n_steps=64, use_sde=True, device="cpu")
    model.save(path)
    assert ppo(tmp_path, "--initialize-from", "plain", "--run-name", "next", "--timesteps", "1") == 0
    assert stable_baselines3.PPO.load(tmp_path / "models" / "next_final.zip", device="cpu").use_sde


def test_what_is_not_known_is_refused_by_name(tmp_path: Path) -> None:
    """With the activations that are."""
    path = save_plain(tmp_path, activation_fn=torch.nn.Hardswish)
    with pytest.raises(ModelError, match="classes, activation_fn is .*Hardswish.*these activations are loaded: tanh,"):
        load(path)


def test_driving_needs_no_optimiser(tmp_path: Path) -> None:
    """Learning on does, and the line then lists those that are known; features of one's own are named as such."""
    path = save_plain(tmp_path, optimizer_class=torch.optim.Adagrad, optimizer_kwargs={"lr_decay": 0.1})
    seen = np.zeros((1, 14), np.float32)
    expected = stable_baselines3.PPO.load(path, device="cpu").predict(seen, deterministic=True)[0]
    assert load_driver(path, None, normalise=False)(seen) == pytest.approx(expected, abs=1e-6)
    with pytest.raises(ModelError, match="optimizer_class is .*Adagrad.*learns on with one of these: Adam,"):
        load(path)

    def with_features(data: dict[str, Any]) -> None:
        data["policy_kwargs"]["features_extractor_class"] = "<class 'mine.Features'>"

    rewritten(path, path.with_suffix(".new"), with_features).replace(path)
    with pytest.raises(ModelError, match="features_extractor_class is .*Features.*; only plain layers are loaded$"):
        load_driver(path, None, normalise=False)


def test_every_activation_is_one_of_pytorch() -> None:
    """By its class in torch.nn."""
    assert all(issubclass(getattr(torch.nn, kind), torch.nn.Module) for kind in ACTIVATIONS.values())
