"""Real training: it ends with clean laps, is reproducible, resumes, and survives Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecNormalize
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from racer_env.config import PROJECT_ROOT
from racer_env.physics import load_physics
from training import evaluate, train_ppo

pytestmark = pytest.mark.timeout(120)


def run(folder: Path, *arguments: str) -> int:
    """Train with files in ``folder``."""
    return train_ppo.main([*arguments, "--models-dir", str(folder / "models"), "--logs-dir", str(folder / "logs")])


def weights(path: Path) -> list[np.ndarray]:
    """Return a model's weights."""
    return [parameter.detach().numpy() for parameter in PPO.load(path, device="cpu").policy.parameters()]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of a few seconds."""
    folder = tmp_path_factory.mktemp("trained")
    assert run(folder, "--timesteps", "80000", "--run-name", "lap", "--checkpoint-freq", "30000") == 0
    return folder


@pytest.mark.slow
def test_a_few_seconds_of_training_end_with_clean_laps(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The driver laps three times from the standing start without touching a wall."""
    assert evaluate.main(["--model", str(trained / "models" / "lap_final"), "--json"]) == 0
    track = json.loads(capsys.readouterr().out)["tracks"]["track-01"]
    assert track["clean_laps"] == 3
    assert track["completion"] == 1.0
    assert track["mean_lap_time_sec"] < 12.0
    assert len(track["lap_times_sec"][0]) == 3


def test_files_of_a_run(trained: Path) -> None:
    """Checkpoints come in pairs, every 30,000 steps; final model, monitor and events are there."""
    names = {path.name for path in (trained / "models").iterdir()}
    assert names == {
        *("lap_30016_steps.zip", "lap_vecnormalize_30016_steps.pkl"),
        *("lap_60032_steps.zip", "lap_vecnormalize_60032_steps.pkl"),
        *("lap_final.zip", "lap_final_vecnormalize.pkl"),
    }
    lines = (trained / "logs" / "lap" / "monitor.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1].startswith("r,l,t")


def test_tensorboard_has_what_a_racer_wants(trained: Path) -> None:
    """Lap times, completion and the reward's components are logged."""
    events = EventAccumulator(str(trained / "logs" / "lap"))
    events.Reload()
    tags = set(events.Tags()["scalars"])
    assert tags >= {"racer/best_lap_time_sec", "racer/mean_lap_time_sec", "reward/progress", "reward/offTrack"}


def test_resume_continues_counter_and_statistics(trained: Path, tmp_path: Path) -> None:
    """Steps and observation counts go on from where they were."""
    before = trained / "models" / "lap_30016_steps"
    assert run(tmp_path, "--resume", str(before), "--timesteps", "5000", "--run-name", "more") == 0
    after = PPO.load(tmp_path / "models" / "more_final.zip", device="cpu")
    assert after.num_timesteps >= 30016 + 5000
    counts = [
        VecNormalize.load(str(path), _no_cars()).obs_rms.count
        for path in (
            trained / "models" / "lap_vecnormalize_30016_steps.pkl",
            tmp_path / "models" / "more_final_vecnormalize.pkl",
        )
    ]
    assert counts[1] >= counts[0] + 5000


def _no_cars() -> VecNormalize:
    from racer_env.tracks import load_track
    from racer_env.vec_env import RacerVecEnv

    return RacerVecEnv([load_track("track-01")], 1)  # type: ignore[return-value]


def test_a_name_in_use_is_refused(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second run of the same name does not replace the first."""
    before = (trained / "models" / "lap_final.zip").read_bytes()
    assert run(trained, "--timesteps", "4096", "--run-name", "lap") == 2
    assert "--overwrite" in capsys.readouterr().err
    assert (trained / "models" / "lap_final.zip").read_bytes() == before


def test_same_seed_same_weights(tmp_path: Path) -> None:
    """Two runs of one seed are equal bit by bit, and another seed is not."""
    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        assert run(tmp_path, "--timesteps", "8192", "--run-name", name, "--seed", seed, "--track-id", "all") == 0
    a, b, c = (weights(tmp_path / "models" / f"{name}_final.zip") for name in "abc")
    assert all(np.array_equal(one, other) for one, other in zip(a, b, strict=True))
    assert not all(np.array_equal(one, other) for one, other in zip(a, c, strict=True))


def test_few_cars_keep_the_rollout_long(tmp_path: Path) -> None:
    """With 4 cars a rollout still has about 4,096 steps."""
    assert run(tmp_path, "--timesteps", "4096", "--num-envs", "4", "--run-name", "few") == 0
    assert PPO.load(tmp_path / "models" / "few_final.zip", device="cpu").n_steps == 1024


def test_resuming_into_another_run_is_refused(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Going on with one run does not replace another's files."""
    assert run(trained, "--timesteps", "4096", "--run-name", "other") == 0
    arguments = ["--timesteps", "4096", "--resume", str(trained / "models" / "lap_final")]
    assert run(trained, *arguments, "--run-name", "other") == 2
    assert "files of a run 'other' already" in capsys.readouterr().err
    assert run(trained, *arguments, "--run-name", "lap") == 0
    assert (trained / "logs" / "lap" / "2.monitor.csv").is_file()  # the first part's stays


def test_resume_with_more_cars_keeps_the_rollout_near_its_size(trained: Path, tmp_path: Path) -> None:
    """The rollout of the resumed run follows its own number of cars."""
    before = str(trained / "models" / "lap_30016_steps")
    assert run(tmp_path, "--resume", before, "--timesteps", "4096", "--num-envs", "8", "--run-name", "few") == 0
    model = PPO.load(tmp_path / "models" / "few_final.zip", device="cpu")
    assert (model.n_steps, model.num_timesteps) == (512, 30016 + 4096)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--device", "nonsense"], "--device 'nonsense' cannot be used"),
        (["--models-dir", __file__], "cannot use"),
        (["--run-name", ".."], "a run's name may hold"),
        (["--run-name", "n" * 300], "a run's name may hold"),
    ],
)
def test_what_cannot_work_is_said_before_training(
    tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, exit code 2, and no time spent."""
    folders = ["--models-dir", str(tmp_path / "models"), "--logs-dir", str(tmp_path / "logs")]
    assert train_ppo.main([*folders, "--timesteps", "4096", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "logs").exists()  # so the name is still free for a second try


def test_other_physics_are_refused_on_resume(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model of other physics is not taken over into these."""
    monkeypatch.setattr(load_physics(), "fingerprint", "0" * 64)
    before = str(trained / "models" / "lap_30016_steps")
    assert run(tmp_path, "--resume", before, "--timesteps", "4096", "--run-name", "x") == 2
    assert "trained on other physics" in capsys.readouterr().err


def test_resume_from_a_file_of_something_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A foreign zip is refused in one line, and nothing is written."""
    import zipfile

    with zipfile.ZipFile(tmp_path / "odd_final.zip", "w") as archive:
        archive.writestr("hello", "world")
    (tmp_path / "odd_final_vecnormalize.pkl").write_bytes(b"no pickle")
    assert run(tmp_path, "--resume", str(tmp_path / "odd_final")) == 2
    assert "cannot load" in capsys.readouterr().err
    assert not (tmp_path / "models").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send Ctrl-C to one process")
def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path: Path) -> None:
    """An interrupted run leaves a whole pair, the command to go on, and exit code 130."""
    command = [sys.executable, "-m", "training.train_ppo", "--run-name", "cut", "--track-id", "track-01"]
    folders = ["--models-dir", str(tmp_path / "models"), "--logs-dir", str(tmp_path / "logs")]
    process = subprocess.Popen(
        [*command, *folders],
        cwd=PROJECT_ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("training run"):
            break
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 130, output
    assert "--resume" in output
    assert (tmp_path / "models" / "cut_interrupted.zip").is_file()
    assert (tmp_path / "models" / "cut_interrupted_vecnormalize.pkl").is_file()


def test_a_crash_saves_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong in the middle, what was trained is on disk."""

    def fail(self: object) -> None:
        raise RuntimeError("out of luck")

    monkeypatch.setattr("training.callbacks.RacerMetricsCallback._on_rollout_end", fail)
    with pytest.raises(RuntimeError, match="out of luck"):
        run(tmp_path, "--timesteps", "8192", "--run-name", "crash")
    assert PPO.load(tmp_path / "models" / "crash_interrupted.zip", device="cpu").num_timesteps == 4096
