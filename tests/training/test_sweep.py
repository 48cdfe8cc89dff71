"""Sweeps from the command line: real runs, kills, and what is left at the end."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from racer_env.project import PROJECT_ROOT
from tests.runs import data_of, folders, ppo, weights
from training import sweep
from training.runs.evaluations import read_evaluations

pytestmark = pytest.mark.timeout(120)

# The bundled driver laps from its first step on, so that runs of one rollout have something to be judged by.
SHORT = (
    *("--timesteps", "2048", "--num-envs", "16", "--set", "least_rollout_steps=2048"),
    *("--initialize-from", "pretrained", "--track-id", "track-01"),
)
on_posix = pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to kill with")


@pytest.fixture
def space(tmp_path: Path) -> str:
    """The path of a search space of three settings, the first of them as it is."""
    path = tmp_path / "space.json"
    path.write_text('{"hyperparameters": {"gamma": [0.99, 0.98, 0.97]}}')
    return str(path)


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a sweep ``s`` of two seeds, to be read only."""
    folder = tmp_path_factory.mktemp("seeds")
    assert sweep.main(["--seeds", "2", "--name", "s", "--workers", "2", *SHORT, *folders(folder)]) == 0
    return folder


def test_every_run_is_an_ordinary_one(seeds: Path, tmp_path: Path) -> None:
    """What its training script would have trained alone, to the last bit; its record has the command."""
    assert ppo(tmp_path, "--run-name", "alone", "--seed", "1", "--eval-freq", "100000", *_usual(SHORT)) == 0
    own = weights(seeds / "models" / "s" / "trial_0000_seed_1_final.zip")
    alone = weights(tmp_path / "models" / "alone_final.zip")
    assert all(np.array_equal(a, b) for a, b in zip(own, alone, strict=True))
    logs = seeds / "logs" / "s" / "trial_0000_seed_1"
    record = json.loads((logs / "config.json").read_text())
    assert record["command"].startswith("python -m training.train_ppo --timesteps 2048")
    assert "--seed 1 --run-name trial_0000_seed_1" in record["command"]
    assert len(read_evaluations(logs)) == 1
    assert "saved" in (seeds / "logs" / "s" / "trial_0000_seed_1.txt").read_text()


def _usual(arguments: tuple[str, ...]) -> list[str]:
    """Return arguments after what ``ppo`` sets, as it trains with fewer steps a car than usual."""
    return ["--set", "steps_per_car=128", *arguments]


@pytest.mark.parametrize("option", ["--preset", "--hyperparams"])
def test_the_best_setting_is_a_preset(option: str, seeds: Path, tmp_path: Path) -> None:
    """That the training script takes by its path; it has the figures of the sweep."""
    best = seeds / "logs" / "s" / "best.json"
    assert "(seed 0: " in json.loads(best.read_text())["figures"]
    assert ppo(tmp_path, "--run-name", "a", option, str(best)) == 0
    model = data_of(tmp_path, "a_final")
    assert (model.steps, model.get("n_envs", int, 0)) == (2048, 16)
    assert model.get("hyperparameters", dict, {})["least_rollout_steps"] == 2048


def test_a_sweep_that_is_done_says_what_it_found(seeds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whenever it is asked again, and trains nothing more."""
    before = sorted((path, path.stat().st_mtime_ns) for path in seeds.rglob("*.zip"))
    assert sweep.main(["--resume", "s", *folders(seeds)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "going on with the sweep 's': 1 of 1 trials done" in lines[0]
    header = next(index for index, line in enumerate(lines) if line.startswith("trial  pace"))
    assert lines[header].split("  ") == [
        *("trial", "pace less costs in units/s, median", "seed 0", "seed 1", "lap time in s", "setting")
    ]
    assert lines[header + 1].split()[0] == "0"
    assert lines[header + 2] == f"the best setting is a preset: {seeds / 'logs' / 's' / 'best.json'}"
    assert sorted((path, path.stat().st_mtime_ns) for path in seeds.rglob("*.zip")) == before


def test_more_trials_are_of_a_search(seeds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The trials of this one are all that there are."""
    assert sweep.main(["--resume", "s", "--trials", "5", *folders(seeds)]) == 2
    assert "the sweep 's' has 1 trial, which are all" in capsys.readouterr().err


def test_a_sweep_of_which_everything_fails_says_why(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """In a line, and its exit code is 1."""
    (tmp_path / "own.py").write_text(
        "import multiprocessing\n"
        "if multiprocessing.parent_process() is not None:  # in a worker, and before PyTorch is loaded\n"
        "    raise ValueError('no pay today')\n"
        "def reward(*arguments):\n"
        "    return 0.0\n"
    )
    reward = ["--reward", f"{tmp_path / 'own.py'}:reward"]
    assert sweep.main(["--workers", "1", "--seeds", "2", *SHORT, *reward, *folders(tmp_path)]) == 1
    output = capfd.readouterr()
    assert "trial_0000_seed_1 failed: " in output.out
    assert output.err.startswith("error: all trials failed; the last one: ")
    assert "no pay today" in output.err
    assert output.err.count("\n") == 1


class Process:
    """A sweep in a process of its own, with its children in one group."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        command = [sys.executable, "-m", "training.sweep", *arguments, *folders(folder)]
        streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        self.process = subprocess.Popen(command, cwd=PROJECT_ROOT, start_new_session=True, **streams)
        assert self.process.stdout is not None
        self.output = self.process.stdout
        self.begin = ""

    def until(self, words: str) -> None:
        """Read until a line has some words."""
        while words not in (line := self.output.readline()):
            self.begin += line
            assert line, self.begin

    def kill(self) -> None:
        """Kill the process, and not its children."""
        self.process.kill()
        self.process.wait()


@pytest.fixture
def processes() -> Iterator[list[Process]]:
    """Sweeps, of which nothing is left after the test."""
    started: list[Process] = []
    yield started
    for each in started:
        try:
            os.killpg(each.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
        each.process.wait()


@on_posix
def test_a_sweep_that_is_killed_goes_on(
    space: str, tmp_path: Path, processes: list[Process], capsys: pytest.CaptureFixture[str]
) -> None:
    """Its processes end with it; what was over counts, and the rest is trained."""
    search = ("--search", space, "--sampler", "grid", "--workers", "1", "--eval-freq", "512")
    killed = Process(tmp_path, *search, *SHORT)
    processes.append(killed)
    killed.until("trial 0: ")
    killed.kill()
    assert not [line for line in killed.output if line.startswith("trial 2: ")]  # ends once no child writes there
    done = read_evaluations(tmp_path / "logs" / "sweep_1" / "trial_0000_seed_0")
    assert sweep.main(["--resume", "sweep_1", "--workers", "1", *folders(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert "3 of 3 trials done" in output
    assert "trial 0: " not in output
    assert read_evaluations(tmp_path / "logs" / "sweep_1" / "trial_0000_seed_0") == done
    models = (tmp_path / "models" / "sweep_1").glob("*_final.zip")
    assert sorted(path.name[:17] for path in models) == [f"trial_000{number}_seed_0" for number in range(3)]


@on_posix
def test_ctrl_c_ends_a_sweep_and_its_processes(tmp_path: Path, processes: list[Process]) -> None:
    """Whatever they are doing; the command to go on is printed."""
    interrupted = Process(tmp_path, "--search", "--name", "s", "--timesteps", "100000000")
    processes.append(interrupted)
    interrupted.until("sweep 's'")
    while not [*(tmp_path / "logs" / "s").glob("*.txt")]:
        os.sched_yield()
    os.killpg(interrupted.process.pid, signal.SIGINT)
    output = interrupted.output.read()  # ends once no child has it any more
    assert interrupted.begin == ""  # Optuna would have logged, and warned of what is experimental
    assert "interrupted\n" in output
    assert f"go on with: python -m training.sweep --resume s --models-dir {tmp_path / 'models'}" in output
    assert "Traceback" not in output
    assert interrupted.process.wait() == 130
