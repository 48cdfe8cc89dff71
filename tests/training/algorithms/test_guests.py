"""Models of algorithms that are trained elsewhere: they drive here, or one line says why not."""

import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import stable_baselines3
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.physics import load_physics
from racer_env.spaces import make_observation_space
from racer_env.vec_env import RacerVecEnv
from tests.runs import data_of, ppo, rewritten, save_guest, td3
from training import evaluate, export_onnx
from training.drivers.driver import Driver
from training.drivers.loading import load_driver
from training.drives.race import DriverEntrant

OBSERVATIONS = np.random.default_rng(0).uniform(0, 1, (5, 3, 14)).astype(np.float32)  # of 3 cars, 5 ticks


def driver_of(folder: Path) -> Driver:
    """Load that model as a driver."""
    return load_driver("guest", load_physics(), models_dir=folder / "models")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("A2C", {"use_rms_prop": False}),
        ("DDPG", {"buffer_size": 100}),
        ("TQC", {"buffer_size": 100, "policy_kwargs": {"n_quantiles": 7, "n_critics": 3, "net_arch": [8]}}),
    ],
)
def test_it_acts_as_its_own_library_makes_it_act(tmp_path: Path, name: str, arguments: dict[str, Any]) -> None:
    """But for rounding."""
    model = save_guest(tmp_path, name, **arguments)
    normalise = VecNormalize.load(str(tmp_path / "models" / "guest_vecnormalize.pkl"), RacerVecEnv("track-01", 2))
    expected, _ = model.predict(normalise.normalize_obs(OBSERVATIONS[0].astype(np.float64)), deterministic=True)
    assert driver_of(tmp_path)(OBSERVATIONS[0]) == pytest.approx(expected, abs=1e-6)


def test_a_memory_begins_empty_with_each_drive(tmp_path: Path) -> None:
    """And each car has its own."""
    save_guest(tmp_path, "RecurrentPPO", policy_kwargs={"lstm_hidden_size": 8, "n_lstm_layers": 2})
    driver = driver_of(tmp_path)
    first = [driver(seen) for seen in OBSERVATIONS]
    assert not np.array_equal(driver(OBSERVATIONS[0]), first[0])
    driver.begin()
    np.testing.assert_array_equal([driver(seen) for seen in OBSERVATIONS], first)
    driver.begin()
    np.testing.assert_allclose([driver(seen[1:2])[0] for seen in OBSERVATIONS], np.array(first)[:, 1], atol=1e-6)


def test_a_car_that_starts_again_forgets(tmp_path: Path) -> None:
    """In the window, where each driver has a car of its own."""
    save_guest(tmp_path, "RecurrentPPO")
    entrant = DriverEntrant(driver_of(tmp_path), "guest")
    drives = [[entrant.act(tick, seen[0].astype(np.float64)) for tick, seen in enumerate(OBSERVATIONS)] for _ in "ab"]
    np.testing.assert_array_equal(drives[0], drives[1])


def test_a_recurrent_model_is_evaluated_and_not_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its memory fits into no file of the game's."""
    save_guest(tmp_path, "RecurrentPPO")
    arguments = ["--model", "guest", "--models-dir", str(tmp_path / "models")]
    assert evaluate.main([*arguments, "--laps", "1"]) == 0
    assert export_onnx.main([*arguments, "--output-dir", str(tmp_path / "out")]) == 2
    assert "guest.zip is a model of RecurrentPPO, whose memory these files cannot hold" in capsys.readouterr().err


def test_it_is_not_trained_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line says what can be, and the name stays free."""
    save_guest(tmp_path, "A2C", use_rms_prop=False)
    assert ppo(tmp_path, "--resume", "guest") == 2
    error = capsys.readouterr().err
    assert "is a model of A2C: it drives here" in error
    assert "cannot be trained; models of PPO, SAC and TD3 can" in error
    assert not (tmp_path / "logs").exists()


def test_without_its_package_one_line_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """That of sb3-contrib is not among the requirements of training."""
    save_guest(tmp_path, "SAC", buffer_size=100)
    path = tmp_path / "models" / "guest.zip"

    def make_another(data: dict[str, Any]) -> None:
        data["policy_class"]["__module__"] = "sb3_contrib.tqc.policies"

    rewritten(path, path.with_suffix(".new"), make_another).replace(path)
    monkeypatch.setitem(sys.modules, "sb3_contrib", None)
    assert evaluate.main(["--model", str(path)]) == 2
    expected = "error: a model of TQC needs the package sb3-contrib; `python -m pip install sb3-contrib`"
    assert capsys.readouterr().err.splitlines()[-1] == expected


def test_ddpg_goes_on_as_td3(tmp_path: Path) -> None:
    """Of which it is a case."""
    save_guest(tmp_path, "DDPG", buffer_size=1000)
    assert td3(tmp_path, "--resume", "guest", "--timesteps", "8", "--eval-freq", "0") == 0
    assert data_of(tmp_path, "guest_final").attributes["policy_kwargs"]["n_critics"] == 1


class Other(gymnasium.Env):
    """Something else that shows 14 numbers."""

    observation_space = make_observation_space()

    def __init__(self, space: spaces.Space) -> None:
        self.action_space = space


@pytest.mark.parametrize(
    ("name", "space", "message"),
    [
        ("DQN", spaces.Discrete(9), "takes actions of the kind Discrete; the game's are 3 numbers"),
        ("PPO", spaces.Discrete(9), "takes actions of the kind Discrete; the game's are 3 numbers"),
        ("PPO", spaces.Box(-1, 1, (2,)), "takes actions of shape [2]"),
        ("TD3", spaces.Box(-1, 1, (3,)), "takes actions whose low is '[-1. -1. -1.]', not [-1.0, 0.0, 0.0]"),
    ],
)
def test_other_actions_are_refused(
    tmp_path: Path, name: str, space: spaces.Space, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Choices, or those that a wrapper has made."""
    small = {} if name == "PPO" else {"buffer_size": 100}
    getattr(stable_baselines3, name)("MlpPolicy", Other(space), device="cpu", **small).save(tmp_path / "other.zip")
    assert evaluate.main(["--model", str(tmp_path / "other.zip"), "--no-vecnorm"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.splitlines()[-1].startswith("error: ")
