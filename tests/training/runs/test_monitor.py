"""The training environment's monitor file: one per run, that goes on."""

import csv
from pathlib import Path

import numpy as np
from stable_baselines3.common.vec_env import VecMonitor

from racer_env.config import AiConfig
from racer_env.contract import EpisodeLimits
from racer_env.vec_env import RacerVecEnv
from training.runs.monitor import Monitor, make_monitor


def drive(path: Path, episodes: int) -> None:
    """Drive some short episodes with a monitor file."""
    cars = RacerVecEnv(["track-01"], 1, AiConfig(episode=EpisodeLimits(max_steps=5)))
    env = make_monitor(cars, path)
    env.reset()
    for _ in range(5 * episodes):
        env.step(np.zeros((1, 3)))
    env.close()


def rows(path: Path) -> list[dict[str, str]]:
    """Return the episodes in a monitor file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("#")
    return [*csv.DictReader(lines[1:])]


def test_a_monitor_file_goes_on(tmp_path: Path) -> None:
    """A second session appends: one header, all episodes, seconds that never fall."""
    path = tmp_path / "monitor.csv"
    drive(path, 2)
    drive(path, 3)
    assert [row["l"] for row in rows(path)] == ["5"] * 5
    seconds = [float(row["t"]) for row in rows(path)]
    assert seconds == sorted(seconds)
    assert path.read_text(encoding="utf-8").count("#") == 1


def test_half_a_line_of_a_killed_run_is_dropped(tmp_path: Path) -> None:
    """What was being written does not spoil what follows."""
    path = tmp_path / "monitor.csv"
    drive(path, 2)
    with path.open("a", encoding="utf-8") as file:
        file.write("0.12,30")
    drive(path, 1)
    assert [row["l"] for row in rows(path)] == ["5"] * 3


def test_a_file_of_something_else_begins_anew(tmp_path: Path) -> None:
    """An empty or foreign file is replaced."""
    path = tmp_path / "monitor.csv"
    path.write_text("")
    drive(path, 1)
    assert len(rows(path)) == 1


def test_episodes_are_counted_as_stable_baselines3_counts_them() -> None:
    """Reward and length of each episode, in the info of its last step; the other infos stay as they were."""
    config = AiConfig(episode=EpisodeLimits(max_steps=5))
    own, original = Monitor(RacerVecEnv(num_envs=2, config=config)), VecMonitor(RacerVecEnv(num_envs=2, config=config))
    told: list[list[dict[str, float]]] = []
    for env in (own, original):
        env.reset()
        infos = [info for _ in range(12) for info in env.step(np.ones((2, 3)))[3]]
        told.append([info["episode"] for info in infos if "episode" in info])
    assert [(one["r"], one["l"]) for one in told[0]] == [(other["r"], other["l"]) for other in told[1]]
    assert len(told[0]) == own.episode_count == 4
