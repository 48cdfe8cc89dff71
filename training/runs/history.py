"""The history of a run in its logs: counted while it trains, and cut where it goes on from an earlier model."""

from pathlib import Path

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from training.checkpoints.data import ModelData
from training.checkpoints.saving import remember
from training.checkpoints.writing import replacing
from training.console.messages import count_of, note
from training.runs.fastest_laps import remove_later_laps
from training.runs.folders import later_records
from training.runs.monitor import MONITOR_NAME

EPISODES = "monitored_episodes"  # attribute of a model: lines of its run's monitor file when it was saved
_HEADER = 2  # lines before the first episode


class EpisodeCounter(BaseCallback):
    """Keeps the number of episodes in the run's monitor file as an attribute of the model, which is saved with it."""

    def __init__(self, log_dir: Path) -> None:
        """Prepare to count; ``log_dir`` is the folder of the run's logs."""
        super().__init__()
        self._monitor = log_dir / MONITOR_NAME
        self._episodes = 0

    def _on_training_start(self) -> None:
        self._episodes = max(len(_lines(self._monitor)) - _HEADER, 0)
        self._remember()

    def _on_step(self) -> bool:
        ended = int(np.count_nonzero(self.locals["dones"]))
        if ended:
            self._episodes += ended
            self._remember()
        return True

    def _remember(self) -> None:
        remember(self.model, **{EPISODES: self._episodes})


def cut_episodes(log_dir: Path, last: ModelData) -> None:
    """Take the episodes that were driven after a model was saved out of its run's monitor file, and say so."""
    path = log_dir / MONITOR_NAME
    lines, count = _lines(path), last.get(EPISODES, int, -1)
    if not lines or not lines[0].startswith(b"#"):
        return
    if count < 0:
        note(f"{path} keeps all its episodes: {last.path.name} does not say how many it was trained on")
    elif len(lines) > count + _HEADER:
        with replacing(path) as beside:
            beside.write_bytes(b"".join(lines[: count + _HEADER]))
        driven = len(lines) - _HEADER
        others = "the other one was" if driven - count == 1 else "the others were"
        kept = f"{path} keeps {count:,} of {count_of(driven, 'episode')}"
        note(f"{kept}; {others} driven after {last.path.name} was saved")


def cut_history(log_dir: Path, last: ModelData) -> None:
    """Take what was logged after a model was saved out of its run's logs: episodes, record laps, later stretches.

    TensorBoard's points stay in its files; ``RunTensorBoard`` hides them when the run goes on.
    """
    cut_episodes(log_dir, last)
    remove_later_laps(log_dir, last.steps)
    for path in later_records(log_dir, last.steps):
        path.unlink()


def _lines(path: Path) -> list[bytes]:
    """Return the whole lines of a file with their ends; none if there is no file."""
    if not path.is_file():
        return []
    return [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
