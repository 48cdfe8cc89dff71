"""The monitor file of a run: a line for each episode, as the tools of stable-baselines3 read it."""

import csv
import io
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnv, VecMonitor
from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn

from training.checkpoints.writing import without_link
from training.runs.log_file import LogFile

MONITOR_NAME = "monitor.csv"
_FIELDS = ("r", "l", "t")


class _Episodes:
    """Appends a line for each episode; takes the place of stable-baselines3's writer, which ends with a full disk."""

    def __init__(self, path: Path) -> None:
        self._log = LogFile(path)

    def begin(self, started: float) -> None:
        """Write the header of a new file."""
        header = json.dumps({"t_start": started, "env_id": "None"})
        self._log.write(f"#{header}\n{','.join(_FIELDS)}\n".encode())

    def write_row(self, episode: dict[str, Any]) -> None:
        """Append an episode: reward, length, seconds."""
        line = io.StringIO()
        csv.DictWriter(line, _FIELDS).writerow(episode)
        self._log.write(line.getvalue().encode())

    def close(self) -> None:
        """Close the file."""
        self._log.close()


class Monitor(VecMonitor):
    """VecMonitor that looks at the cars whose episodes have ended, and leaves the infos of the others alone."""

    def step_wait(self) -> VecEnvStepReturn:
        """Advance the cars, and count; the info of the last step of an episode gets ``episode``."""
        observations, rewards, dones, infos = self.venv.step_wait()
        self.episode_returns += rewards
        self.episode_lengths += 1
        for car in np.flatnonzero(dones).tolist():
            seconds = round(time.time() - self.t_start, 6)
            episode = {"r": self.episode_returns[car], "l": self.episode_lengths[car], "t": seconds}
            infos[car]["episode"] = episode
            self.episode_count += 1
            self.episode_returns[car], self.episode_lengths[car] = 0.0, 0
            if self.results_writer is not None:
                self.results_writer.write_row(episode)
        return observations, rewards, dones, infos


def make_monitor(cars: VecEnv, path: Path) -> VecMonitor:
    """Wrap an environment so that every episode appends a line (reward, length, seconds) to a file, new or not.

    A line cut off by a killed run is dropped, and the seconds go on from the last one.
    """
    without_link(path)
    last = _last_time(path) if path.is_file() else None
    if last is None:
        path.unlink(missing_ok=True)
    monitored, episodes = Monitor(cars), _Episodes(path)
    if last is None:
        episodes.begin(monitored.t_start)
    writer: Any = episodes
    monitored.results_writer = writer
    monitored.t_start = time.time() - (last or 0.0)
    return monitored


def _last_time(path: Path) -> float | None:
    """Cut the file after its last whole line; return when its last episode ended, or None if it is no monitor file."""
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        os.truncate(path, len(whole))
    lines = whole.decode("utf-8", "replace").splitlines()
    if len(lines) < 2 or not lines[0].startswith("#") or not lines[1].startswith("r,l,t"):
        return None
    try:
        return float(lines[-1].split(",")[2]) if len(lines) > 2 else 0.0
    except (IndexError, ValueError):
        return 0.0
