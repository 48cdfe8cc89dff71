"""Killed without a warning, at any moment, training loses nothing beyond its last checkpoint."""

import random
import sys
import time
from pathlib import Path

import pytest

from tests import crash_child
from tests.runs import folders
from tests.soak.processes import pipe, start
from training import train_ppo
from training.checkpoints.files import find_model, find_statistics

KILLS = 20
EVERY = 512  # steps between checkpoints: it is saving all the time


@pytest.mark.skipif(sys.platform == "win32", reason="needs a server that forks, to start quickly")
@pytest.mark.timeout(120)
@pytest.mark.slow
def test_twenty_kills_lose_nothing(tmp_path: Path) -> None:
    """Each time, the newest whole model is at least the last one that was reported saved, and training goes on."""
    chance = random.Random(0)
    common = ["--timesteps", "10000000", "--num-envs", "16", "--eval-freq", "0", "--checkpoint-freq", str(EVERY)]
    begin, known = ["--run-name", "a"], 0
    for kill in range(KILLS):
        reports, sender = pipe()
        arguments = [*begin, *common, "--keep-checkpoints", "3", *folders(tmp_path)]
        child = start(crash_child.run, train_ppo.main, arguments, sender, folder=tmp_path)
        sender.close()
        assert reports.recv() == "began"
        first = reports.recv()  # it trains and saves
        assert first > known, "it goes on from where it was"
        time.sleep(chance.uniform(0.0, 0.3))
        child.kill()
        child.join()
        last = first
        try:
            while reports.poll():
                last = reports.recv()
        except EOFError:
            pass
        data = find_model("a", tmp_path / "models")
        find_statistics(data)
        assert data.steps >= last, f"kill {kill} lost a checkpoint"
        known, begin = data.steps, ["--resume", "a"]
    assert len([*(tmp_path / "models").glob("a_*_steps.zip")]) <= 3 + 1
    lines = (tmp_path / "logs" / "a" / "monitor.csv").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("#") for line in lines) == 1
    assert all(line.count(",") == 2 for line in lines[1:])
