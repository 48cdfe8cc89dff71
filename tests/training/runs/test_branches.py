"""Branches of a run: one history each, and none of it lost."""

import errno
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from racer_env.errors import ModelError
from racer_env.physics import load_physics
from racer_env.tracks import Track
from tests.helpers import make_link
from tests.runs import data_of, make_fresh, ppo, rewritten
from training.checkpoints.data import ModelData
from training.drivers.loading import load_driver
from training.drives.recording import record, save_recording
from training.reports.run_log import RunLog
from training.runs import branches
from training.runs.folders import check_run_folder
from training.runs.history import EPISODES, cut_episodes

pytestmark = pytest.mark.timeout(60)

FORK, END, MORE = 8000, 16384, 4096
# Cars whose episodes end after a second.
ARGUMENTS = ("--num-envs", "32", "--checkpoint-freq", str(FORK), "--set", "epochs=1")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory, short_config: str, track: Track) -> Path:
    """A folder with a run ``it`` that has a checkpoint on the way and a record lap from after it."""
    folder = tmp_path_factory.mktemp("original")
    assert ppo(folder, "--run-name", "it", "--timesteps", str(END), "--config", short_config, *ARGUMENTS) == 0
    for name, steps in (("track-01", "16,000"), ("track-02", "8,000")):
        recording = record(f"it at {steps} steps", track, [np.array([0.0, 1.0, 0.0])] * 20)
        save_recording(recording, folder / "logs" / "it" / "records" / f"{name}.npz")
    return folder


@pytest.fixture
def run(original: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(original, tmp_path / "copy"))


def go_on(run: Path, model: str = f"it_{FORK}_steps") -> int:
    """Resume a model for one rollout."""
    return ppo(run, "--resume", str(run / "models" / model), "--timesteps", str(MORE))


def episodes(run: Path, name: str) -> list[str]:
    """Return the lines of a run's monitor file."""
    return (run / "logs" / name / "monitor.csv").read_text(encoding="utf-8").splitlines()[2:]


def steps_of(run: Path, name: str) -> list[int]:
    """Return the steps at which a run logged a figure."""
    events = EventAccumulator(str(run / "logs" / name))
    events.Reload()
    return [event.step for event in events.Scalars("reward/progress")]


def files(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder with their content."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_branch_takes_its_history_along(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All that was logged is the branch's; the run that goes on keeps what was logged up to the model."""
    before, logs = files(run / "logs" / "it"), run / "logs"
    driven, at_fork = episodes(run, "it"), data_of(run, f"it_{FORK}_steps").attributes["monitored_episodes"]
    assert 0 < at_fork < len(driven) == data_of(run, "it_final").attributes["monitored_episodes"]
    assert go_on(run) == 0
    error = capsys.readouterr().err
    assert f"what 'it' has saved since it_{FORK}_steps.zip is kept as the run 'it-1', with its logs" in error
    assert f"keeps {at_fork:,} of {len(driven):,} episodes" in error
    assert files(logs / "it-1") == before
    assert episodes(run, "it")[:at_fork] == driven[:at_fork]
    assert len(episodes(run, "it")) == data_of(run, "it_final").attributes["monitored_episodes"] < len(driven)
    assert max(steps_of(run, "it")) == FORK + MORE
    assert max(steps_of(run, "it-1")) == END
    assert [path.name for path in (logs / "it" / "records").iterdir()] == ["track-02.npz"]
    assert go_on(run) == 0
    assert (logs / "it-2" / f"config_from_{FORK}_steps.json").is_file()


def test_a_branch_is_a_run_of_its_own(run: Path) -> None:
    """It is reported, driven and resumed under its name."""
    assert go_on(run) == 0
    log = RunLog(check_run_folder("it-1", run / "logs"))  # of which the report is made
    assert log.curve("reward/progress") is not None
    assert load_driver("it-1", load_physics(), models_dir=run / "models")
    assert ppo(run, "--resume", "it-1", "--timesteps", str(MORE)) == 0
    assert data_of(run, "it-1_final").steps == END + MORE
    assert max(steps_of(run, "it-1")) == END + MORE


def test_a_best_model_goes_on_where_its_history_is(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """That of a branch is refused in the run that has left it, without a change, and goes on in the branch."""
    models = run / "models"
    shutil.copy(models / "it_16000_steps.zip", models / "it_best.zip")
    assert go_on(run) == 0
    before = files(run)
    capsys.readouterr()
    assert go_on(run, "it_best") == 2
    assert (
        f"error: {models / 'it_best.zip'} was saved in what is now the run 'it-1', which has its history; go on with "
        f"it there: --resume {models / 'it-1_best.zip'}\n" in capsys.readouterr().err
    )
    assert files(run) == before
    assert go_on(run, "it-1_best") == 0


class _KilledError(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("broken", ["_copy_logs", "_set_aside", "cut_history"])
def test_a_kill_while_a_branch_is_set_aside_loses_nothing(
    run: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """Whenever it comes, the next attempt completes the same branch."""
    before = files(run / "logs" / "it")
    real, calls = getattr(branches, broken), []

    def killed(*arguments: Any, **named: Any) -> None:
        calls.append(arguments)
        if len(calls) == 2 or broken != "_set_aside":
            raise _KilledError
        real(*arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(branches, broken, killed)
        with pytest.raises(_KilledError):
            go_on(run)
    assert go_on(run) == 0
    assert files(run / "logs" / "it-1") == before
    assert data_of(run, "it-1_final").steps == END
    assert data_of(run, f"it-1_{2 * FORK}_steps").steps == 2 * FORK
    assert data_of(run, "it_final").steps == FORK + MORE
    assert not (run / "logs" / "it-2").exists()


def test_what_a_killed_run_drove_after_its_last_model_is_taken_out(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is driven again; nothing else of it is set aside."""
    for path in (run / "models").glob("it_*"):
        if f"_{FORK}_steps" not in path.name:
            path.unlink()
    driven, at_fork = len(episodes(run, "it")), data_of(run, f"it_{FORK}_steps").attributes["monitored_episodes"]
    assert go_on(run, f"it_{FORK}_steps") == 0
    assert f"keeps {at_fork:,} of {driven:,} episodes" in capsys.readouterr().err
    assert not (run / "logs" / "it-1").exists()


def test_a_model_that_does_not_count_its_episodes(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One of an earlier version: the monitor file stays whole, and that is said."""
    path = run / "models" / f"it_{FORK}_steps.zip"
    rewritten(path, path.with_suffix(".new"), lambda data: data.pop("monitored_episodes")).replace(path)
    driven = episodes(run, "it")
    assert go_on(run) == 0
    assert "does not say how many" in capsys.readouterr().err
    assert episodes(run, "it")[: len(driven)] == driven


def test_a_model_that_is_set_aside_is_not_copied_through_a_link(tmp_path: Path) -> None:
    """What belongs to it neither."""
    path = make_fresh(tmp_path / "models", "a_best")
    (tmp_path / "mine").write_text("mine")
    make_link(tmp_path / "models" / "a-1_best_vecnormalize.pkl", tmp_path / "mine")
    branches.set_aside([path], "a", tmp_path / "logs")
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_single_episode_that_is_cut_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The sentence about it is in the singular."""
    (tmp_path / "monitor.csv").write_text("#{}\nr,l,t\n1,2,3\n4,5,6\n", encoding="utf-8")
    cut_episodes(tmp_path, ModelData(Path("a_final.zip"), {EPISODES: 1}, b""))
    assert "keeps 1 of 2 episodes; the other one was driven after a_final.zip" in capsys.readouterr().err


def logs_to_copy(tmp_path: Path) -> tuple[Path, Path]:
    """Return the only model of a run ``a``, and the folder of its logs, in which there is one file."""
    logs = tmp_path / "logs" / "a"
    logs.mkdir(parents=True)
    (logs / "config.json").write_text("{}")
    return make_fresh(tmp_path / "models", "a_best"), logs


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes with a name")
def test_whatever_lies_in_the_logs_a_branch_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Links are copied as links, wherever they lead; a pipe is passed over with a note."""
    model, logs = logs_to_copy(tmp_path)
    make_link(logs / "above", Path(".."))
    make_link(logs / "dangling", tmp_path / "nowhere")
    os.mkfifo(logs / "pipe")
    assert branches.set_aside([model], "a", tmp_path / "logs") == "a-1"
    copy = tmp_path / "logs" / "a-1"
    assert {path.name for path in copy.iterdir()} == {"above", "dangling", "config.json"}
    assert (copy / "above").readlink() == Path("..")
    assert f"note: {logs / 'pipe'} is a pipe or a device; it is not copied\n" in capsys.readouterr().err


def test_logs_that_cannot_be_copied_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the file and the reason, and everything is as it was."""
    model, logs = logs_to_copy(tmp_path)

    def fail(source: str, target: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copy2", fail)
    with pytest.raises(ModelError, match=r"^cannot copy .*config.json to .*: No space left on device; nothing"):
        branches.set_aside([model], "a", tmp_path / "logs")
    assert model.is_file()
    assert [*(tmp_path / "logs").iterdir()] == [logs]
