"""Train, save, load, predict: what comes back from disk is what was trained."""

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.physics import load_physics
from racer_env.project import PROJECT_ROOT
from racer_env.vec_env import RacerVecEnv
from tests.runs import load, make_fresh, ppo
from training.algorithms.fast_policy import FastPPO
from training.checkpoints.files import find_model, statistics_path
from training.checkpoints.pickled import read_pickled
from training.console.interruption import Interrupted
from training.drivers.loading import load_driver
from training.runs import checkpointing

pytestmark = pytest.mark.timeout(60)

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send these signals")


def test_a_loaded_model_predicts_what_the_trained_one_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Statistics survive with mean, variance and count, and every action is the same bit by bit."""
    kept: dict[str, Any] = {}
    observations = np.random.default_rng(0).random((50, 14), dtype=np.float32)
    real = checkpointing.save_unit

    def save(model: Any, statistics: VecNormalize, path: Path, with_buffer: bool = False) -> None:
        real(model, statistics, path, with_buffer)
        kept["actions"] = model.predict(statistics.normalize_obs(observations), deterministic=True)[0]
        kept["moments"] = [np.copy(getattr(statistics.obs_rms, part)).tolist() for part in ("mean", "var", "count")]
        kept["path"] = path

    monkeypatch.setattr("training.runs.checkpointing.save_unit", save)
    assert ppo(tmp_path, "--timesteps", "8192", "--checkpoint-freq", "8192", "--run-name", "a") == 0
    assert load_driver(kept["path"], load_physics())(observations) == pytest.approx(kept["actions"], abs=1e-6)
    kept_now = read_pickled(statistics_path(kept["path"]))
    assert [[*kept_now.obs_mean], [*kept_now.obs_var], kept_now.obs_count] == kept["moments"]


def test_stable_baselines3_loads_the_files_itself(trained: Path) -> None:
    """They are what the library writes: anybody's script can use them."""
    path = trained / "models" / "lap_final.zip"
    env = VecNormalize.load(str(statistics_path(path)), RacerVecEnv(["track-01"], 64))
    model = PPO.load(path, env=env, device="cpu")
    assert model.num_timesteps == load(path).num_timesteps
    observations = np.random.default_rng(1).random((5, 14), dtype=np.float32)
    expected = load_driver(path, load_physics())(observations)
    actions, _ = model.predict(env.normalize_obs(observations), deterministic=True)
    assert actions == pytest.approx(expected, abs=1e-6)


# --- Interruption ---


@posix_only
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_saves_and_says_how_to_go_on(tmp_path: Path, name: str, code: int) -> None:
    """The interrupted run leaves a whole pair and the exact command to go on, which works."""
    import shlex
    import signal

    command = ["-m", "training.train_ppo", "--run-name", "cut", "--num-envs", "32", "--eval-freq", "0"]
    folders = ["--models-dir", str(tmp_path / "models"), "--logs-dir", str(tmp_path / "logs")]
    process = subprocess.Popen(
        [sys.executable, *command, "--timesteps", "500000", *folders],
        cwd=PROJECT_ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("training run"):
            break
    time.sleep(0.7)
    process.send_signal(getattr(signal, name))
    output, _ = process.communicate(timeout=30)
    assert process.returncode == code, output
    steps = load(tmp_path / "models" / "cut_interrupted.zip").num_timesteps
    assert f"interrupted at {steps:,} steps" in output
    (line,) = [line for line in output.splitlines() if line.startswith("go on with: ")]
    arguments = shlex.split(line.removeprefix("go on with: "))
    assert arguments[:3] == ["python", "-m", "training.train_ppo"]
    assert arguments[arguments.index("--timesteps") + 1] == str(500_000 - steps)
    assert "--num-envs" not in arguments  # the model carries it
    from training import train_ppo

    arguments[arguments.index("--timesteps") + 1] = "4096"
    assert train_ppo.main(arguments[3:]) == 0
    assert load(tmp_path / "models" / "cut_final.zip").num_timesteps == steps + 4096


@pytest.mark.parametrize(
    "moment",
    ["training.runs.session.write_record", "training.runs.metrics.RacerMetricsCallback._on_training_start"],
)
def test_an_interruption_before_the_first_step_leaves_the_name_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Nothing was trained, so there is nothing that could be resumed."""

    def interrupt(*arguments: object) -> None:
        raise Interrupted(2)

    monkeypatch.setattr(moment, interrupt)
    assert ppo(tmp_path, "--timesteps", "64", "--num-envs", "4", "--run-name", "early") == 130
    assert [*(tmp_path / "logs").iterdir()] == []


def test_an_interruption_after_the_last_step_leaves_nothing_to_go_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in the last evaluation: the model is saved, and how to see it drive is printed instead."""

    def interrupt(self: object) -> None:
        raise Interrupted(2)

    monkeypatch.setattr("training.runs.best_model.BestModelCallback._on_training_end", interrupt)
    assert ppo(tmp_path, "--timesteps", "4096", "--run-name", "end", "--eval-freq", "100000") == 130
    output = capsys.readouterr().out
    assert "all of its steps were trained" in output
    assert f"see it drive: python -m training.evaluate --model {tmp_path / 'models' / 'end_interrupted.zip'}" in output
    assert "go on with" not in output


# --- What is no number ---


def test_a_diverging_network_is_named_and_not_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run ends with one line, exit code 2, and the last good checkpoint as it was."""
    import torch

    real = FastPPO.train

    def train(self: FastPPO) -> None:
        real(self)
        if self.num_timesteps >= 8192:
            with torch.no_grad():
                self.policy.value_net.weight[0, 5] = float("nan")  # type: ignore[operator, index]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FastPPO, "train", train)
        arguments = ["--timesteps", "40960", "--checkpoint-freq", "4096", "--run-name", "nan"]
        assert ppo(tmp_path, *arguments) == 2
    captured = capsys.readouterr()
    assert "the network is no longer finite: value_net.weight holds nan after 8,192 steps" in captured.err
    assert captured.err.count("\n") == 1
    assert "the last whole model is" in captured.out
    assert "--resume" in captured.out
    assert find_model("nan", tmp_path / "models").path.name == "nan_8192_steps.zip"
    assert all(torch.isfinite(p).all() for p in load(tmp_path / "models" / "nan_8192_steps.zip").policy.parameters())
    assert not (tmp_path / "models" / "nan_final.zip").exists()
    assert not (tmp_path / "models" / "nan_interrupted.zip").exists()


def test_an_error_that_a_broken_network_causes_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What PyTorch says about a distribution of no numbers is translated into its cause."""
    import torch

    real = FastPPO.train

    def train(self: FastPPO) -> None:
        with torch.no_grad():
            self.policy.log_std[0] = float("inf")  # type: ignore[index, operator]
        real(self)

    monkeypatch.setattr(FastPPO, "train", train)
    assert ppo(tmp_path, "--timesteps", "8192", "--run-name", "hot") == 2
    error = capsys.readouterr().err
    assert "the network is no longer finite: log_std holds" in error
    assert error.count("\n") == 1


@pytest.mark.filterwarnings("ignore:invalid value encountered")
@pytest.mark.parametrize(
    ("what", "message"), [("obs", "observation 3 of car 2 is nan"), ("reward", "the reward of car 2")]
)
def test_a_game_that_sends_no_numbers_is_named(
    tmp_path: Path, what: str, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Observation, car and value; nothing is saved that has seen it."""
    real = RacerVecEnv.step_wait

    def step_wait(self: RacerVecEnv) -> Any:
        observations, rewards, dones, infos = real(self)
        self.steps = getattr(self, "steps", 0) + 1
        if self.steps == 100 and what == "obs":
            observations[2, 3] = np.nan
        if self.steps == 100 and what == "reward":
            rewards[2] = np.inf
        return observations, rewards, dones, infos

    monkeypatch.setattr(RacerVecEnv, "step_wait", step_wait)
    assert ppo(tmp_path, "--timesteps", "40960", "--checkpoint-freq", "4096", "--run-name", "odd") == 2
    assert message in capsys.readouterr().err
    assert find_model("odd", tmp_path / "models").path.name == "odd_4096_steps.zip"


def test_a_full_disk_at_the_end_names_the_last_whole_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, and the command to go on from what there is."""
    real = checkpointing.save_unit

    def save(model: Any, statistics: VecNormalize, path: Path, with_buffer: bool = False) -> None:
        if "_steps" not in path.name:
            raise OSError(28, "No space left on device")
        real(model, statistics, path, with_buffer)

    monkeypatch.setattr("training.runs.ending.save_unit", save)
    assert ppo(tmp_path, "--timesteps", "8192", "--checkpoint-freq", "4096", "--run-name", "full") == 2
    captured = capsys.readouterr()
    assert "No space left on device" in captured.err
    assert "the last whole model is" in captured.out
    assert "full_8192_steps.zip" in captured.out


def test_files_copied_elsewhere_still_belong_together(tmp_path: Path) -> None:
    """A pair may move; only its two names matter."""
    make_fresh(tmp_path, "here_final")
    target = tmp_path / "there"
    target.mkdir()
    for path in tmp_path.glob("here_final*"):
        shutil.copy(path, target / path.name)
    assert load_driver(target / "here_final", load_physics())
