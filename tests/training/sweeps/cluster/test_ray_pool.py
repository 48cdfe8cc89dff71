"""Sweeps on a real Ray cluster of two machines, of which one is switched off."""

import importlib.util
import json
import os
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from racer_env.project import PROJECT_ROOT
from tests.runs import data_of, weights
from tests.training.sweeps.cluster.machines import Machines, why_not
from training import sweep, train_ppo
from training.runs.evaluations import read_evaluations

WHY_NOT = why_not()
pytestmark = [pytest.mark.timeout(300), pytest.mark.slow]
on_a_cluster = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))

# The bundled driver laps from its first step on, so that runs of one rollout have something to be judged by.
SHORT = (
    *("--timesteps", "2048", "--num-envs", "16", "--set", "least_rollout_steps=2048"),
    *("--initialize-from", "pretrained"),
)
LONG = ("--timesteps", "50000", "--eval-freq", "10000", "--initialize-from", "pretrained")


WRAPPER = """
from stable_baselines3.common.vec_env import VecEnvWrapper


class Same(VecEnvWrapper):
    def reset(self):
        return self.venv.reset()

    def step_wait(self):
        return self.venv.step_wait()
"""


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    """The cluster."""
    with tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as folder:
        machines = Machines(Path(folder))
        try:
            yield machines
        finally:
            machines.close()


ENDLESS = """
from pathlib import Path
from training.sweeps.cluster.ray_pool import RayPool
from training.sweeps.pool import Ended, Evaluated, RunOrder

if __name__ == "__main__":
    with RayPool("auto", None) as pool:
        options = ("--timesteps", "100000000", "--eval-freq", "2048", "--num-envs", "16")
        pool.submit(RunOrder("trial_a", "PPO", options, Path("models"), Path("logs")))
        events = []
        while not any(isinstance(event, Ended) for event in events):
            events = pool.events(1.0)
            if any(isinstance(event, Evaluated) for event in events):
                print("evaluated", flush=True)
                pool.end_early("trial_a", "others were better")
        print(events[-1])
"""


# The first one, as its single run compiles the kernels for all the others; two at once would compile them twice.
@on_a_cluster
def test_a_run_ends_early_as_a_trained_one(machines: Machines, tmp_path: Path) -> None:
    """Its files are there, and what it printed says why."""
    with machines.script(tmp_path, ENDLESS) as process:
        output, _ = process.communicate(timeout=200)
    assert output.endswith("Ended(run='trial_a', why_failed=None, is_lost=False, machine_is_gone=False)\n"), output
    assert "others were better" in (tmp_path / "logs" / "trial_a.txt").read_text()
    assert (tmp_path / "models" / "trial_a_final.zip").is_file()


@on_a_cluster
def test_a_run_needs_nothing_over_there(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither the project nor the user's files; it is what its script would have trained here, to the last bit."""
    here, roads = tmp_path / "here", tmp_path / "roads"
    here.mkdir()
    roads.mkdir()
    (here / "helper.py").write_text("FACTOR = 0.5\n")
    (here / "pay.py").write_text(
        "def half(observations, infos, actions, rewards):\n    import helper\n\n    return helper.FACTOR * rewards\n"
    )
    road = json.loads((PROJECT_ROOT / "tracks" / "track-02.json").read_text())
    (roads / "mine.json").write_text(json.dumps({**road, "id": "mine"}))
    (tmp_path / "weights.json").write_text((PROJECT_ROOT / "ai-config.json").read_text())
    (here / "wrapping.py").write_text(WRAPPER)
    own = ("--reward", "pay.py:half", "--tracks-dir", str(roads), "--track-id", "mine", "--config", "../weights.json")
    own += ("--wrapper", "wrapping:Same")  # a module, which a process that trains several runs imports each time
    output = machines.sweep(here, "--seeds", "3", "--name", "s", *SHORT, *own)
    assert "2 machines with 2 cores: 127.0.0.1\n" in output
    assert "failed" not in output
    assert "2 runs side by side" in output
    logs, models = here / "logs" / "s", here / "models" / "s"
    assert "saved" in (logs / "trial_0000_seed_2.txt").read_text()
    assert len(read_evaluations(logs / "trial_0000_seed_2")) == 1
    monkeypatch.chdir(here)
    monkeypatch.syspath_prepend(here)
    assert (
        train_ppo.main([*SHORT, *own, "--seed", "2", "--run-name", "alone", "--models-dir", ".", "--logs-dir", "."])
        == 0
    )
    own_weights, there = weights(here / "alone_final.zip"), weights(models / "trial_0000_seed_2_final.zip")
    assert all(np.array_equal(a, b) for a, b in zip(own_weights, there, strict=True))
    capsys.readouterr()
    going_on = ("--resume", "trial_0000_seed_2", "--models-dir", "models/s", "--logs-dir", "logs/s")
    assert train_ppo.main([*going_on, *own[2:4], "--timesteps", "2048"]) == 0  # its reward is found where it is named
    assert "the reward is pay.py:half, as before" in capsys.readouterr().out


@on_a_cluster
def test_a_machine_that_is_switched_off_costs_nothing_that_was_done(machines: Machines, tmp_path: Path) -> None:
    """What was being trained there is trained on another, once there is one, and counts once."""
    sweep_of_two = (
        "--name",
        "s",
        "--search",
        str(_space(tmp_path)),
        "--trials",
        "2",
        "--seeds",
        "2",
        "--pruner",
        "none",
    )
    with machines.begin(tmp_path, *sweep_of_two, *LONG) as process:
        assert process.stdout is not None
        output = ""
        while "trial 0: " not in output and (line := process.stdout.readline()):
            output += line
        assert "trial 0: " in output, output
        done = {path: path.stat().st_mtime_ns for path in (tmp_path / "models").rglob("trial_0000*")}
        while len(machines.tasks()) < 2:
            time.sleep(0.05)
        machines.switch_off_the_second()
        machines.switch_on_another()
        rest, _ = process.communicate(timeout=200)
    assert process.returncode == 0, output + rest
    assert "its machine is gone; it is trained elsewhere\n" in rest
    assert "2 of 2 trials done" in rest
    assert {path: path.stat().st_mtime_ns for path in done} == done
    steps = [[line["steps"] for line in read_evaluations(path.parent)] for path in tmp_path.rglob("evaluations.jsonl")]
    assert len(steps) == 4
    assert all(of_run == sorted({*of_run}) for of_run in steps)


def _space(folder: Path) -> Path:
    path = folder / "space.json"
    path.write_text('{"hyperparameters": {"gamma": [0.99, 0.98, 0.97]}}')
    return path


@on_a_cluster
def test_ctrl_c_ends_runs_everywhere(machines: Machines, tmp_path: Path) -> None:
    """Within seconds; the command to go on names the cluster, and does."""
    with machines.begin(tmp_path, "--name", "s", "--seeds", "2", *LONG, "--timesteps", "100000000") as process:
        while len(machines.tasks()) < 2:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "go on with: python -m training.sweep --resume s --models-dir models --logs-dir logs --ray auto\n" in output
    assert "Traceback" not in output
    end = time.monotonic() + 30
    while machines.tasks() and time.monotonic() < end:
        time.sleep(0.05)
    assert not machines.tasks()


@on_a_cluster
def test_a_sweep_that_is_killed_goes_on(machines: Machines, tmp_path: Path) -> None:
    """Its runs end with it; on resume they start again, here or there."""
    with machines.begin(tmp_path, "--name", "s", "--seeds", "1", *LONG) as process:
        while not machines.tasks():
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
    assert "1 of 1 trials done" in machines.sweep(tmp_path, "--resume", "s")
    assert data_of(tmp_path, "s/trial_0000_seed_0_final").steps >= 50_000


@on_a_cluster
def test_a_process_that_is_killed_is_lost(machines: Machines, tmp_path: Path) -> None:
    """Which may be the run's fault, unlike the loss of a machine."""
    with machines.script(tmp_path, ENDLESS.replace("pool.end_early", "print")) as process:
        assert process.stdout is not None
        while "evaluated" not in (line := process.stdout.readline()):
            assert line
        (task,) = machines.tasks()
        os.kill(task, signal.SIGKILL)
        output, _ = process.communicate(timeout=200)
    assert "Ended(run='trial_a', why_failed='its process is gone" in output
    assert "is_lost=True, machine_is_gone=False)\n" in output


@on_a_cluster
def test_a_machine_that_lacks_packages_is_refused(machines: Machines, tmp_path: Path) -> None:
    """By its address, with what it lacks; if no other is left, the sweep cannot run."""
    code = (
        "from training.sweeps.cluster import machines, ray_pool\n"
        "machines.PACKAGES = (*machines.PACKAGES, 'no-such-package')\n"
        "try:\n    ray_pool.RayPool('auto', None)\n"
        "except machines.PackageError as error:\n    print(error)\n"
    )
    with machines.script(tmp_path, code) as process:
        output, _ = process.communicate(timeout=100)
    assert output.count("note: the machine 127.0.0.1 trains nothing, as it lacks no-such-package; `pip install") == 2
    assert output.endswith("no machine of the cluster can be used, as said above\n")


@pytest.mark.skipif(WHY_NOT is not None and "not installed" in WHY_NOT, reason=str(WHY_NOT))
def test_no_cluster_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Within seconds, and nothing of the sweep has begun."""
    monkeypatch.chdir(tmp_path)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        assert sweep.main(["--ray", address, *SHORT, "--track-id", "track-01"]) == 2
    error = capfd.readouterr().err.splitlines()[-1]
    assert error.startswith(f"error: no Ray cluster can be used at '{address}': ")
    assert error.endswith("; `ray start --head` begins one, see docs/sweeps.md")
    assert not [*tmp_path.iterdir()]


def test_ray_that_is_missing_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing but --ray asks for it."""
    there = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "ray" else there(name, *rest))
    monkeypatch.chdir(tmp_path)
    assert sweep.main(["--ray", "auto", *SHORT]) == 2
    assert capsys.readouterr().err == "error: this needs the package ray; `python -m pip install ray`\n"
