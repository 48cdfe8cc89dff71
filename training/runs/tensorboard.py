"""What a run's TensorBoard shows besides stable-baselines3's figures: hyper-parameters, and first a page of laps."""

import itertools
import os
import re
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stable_baselines3.common.logger import TensorBoardOutputFormat
from tensorboard.compat.proto import event_pb2
from tensorboard.summary.writer.record_writer import RecordWriter
from torch.utils.tensorboard import FileWriter, SummaryWriter
from torch.utils.tensorboard.summary import hparams

from training.algorithms.registry import all_settings
from training.runs.log_file import LogFile

# The figures by which the HPARAMS tab compares runs.
METRICS = (
    *("eval/best_lap_time_sec", "eval/mean_lap_time_sec", "eval/pace_units_per_sec", "eval/completion"),
    *("eval/clean_laps", "eval/off_track_share", "eval/steer_reversals_per_sec", "eval/mean_reward"),
    *("racer/best_lap_time_sec", "racer/completion_rate"),
)
_VERSION = "brain.Event:2"  # of the format of the events
_PREFIX = "events.out.tfevents."  # of the names of event files; a second of ten digits follows
_MULTILINE = "Multiline"


class _EventFile:
    """A new file of events. TensorBoard's own writer follows links, and ends with a traceback when the disk is full."""

    _numbers = itertools.count()

    def __init__(self, folder: Path) -> None:
        second = _next_second(folder)
        name = f"{_PREFIX}{second:010}.{socket.gethostname()}.{os.getpid()}.{next(self._numbers)}"
        self._folder = folder
        self._records = RecordWriter(LogFile(folder / name))
        self.add_event(event_pb2.Event(wall_time=time.time(), file_version=_VERSION))

    def get_logdir(self) -> str:
        return str(self._folder)

    def add_event(self, event: Any) -> None:
        self._records.write(event.SerializeToString())

    def flush(self) -> None:
        self._records.flush()

    def close(self) -> None:
        self._records.close()


def _next_second(folder: Path) -> int:
    """Return the present second, or one after those of all event files in a folder, also if the clock was set back.

    TensorBoard reads the files in the order of their names, and the last one hides what a killed run has left.
    """
    names = (re.match(rf"{re.escape(_PREFIX)}(\d{{10}})\.", path.name) for path in folder.glob(f"{_PREFIX}*"))
    return max([int(time.time()), *(int(name[1]) + 1 for name in names if name is not None)])


class _Events(FileWriter):
    def __init__(self, folder: Path) -> None:
        self.event_writer = _EventFile(folder)


class _Summaries(SummaryWriter):
    """Writes summaries to a run's folder; in a resumed run, hides events beyond its first step."""

    def __init__(self, folder: Path, first_step: int) -> None:
        super().__init__(log_dir=str(folder))
        if first_step:
            start = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
            for event in (event_pb2.Event(file_version=_VERSION), event_pb2.Event(session_log=start)):
                self._get_file_writer().add_event(event, first_step + 1)

    def _get_file_writer(self) -> Any:
        if self.file_writer is None:
            writer: Any = _Events(Path(self.log_dir))
            every: Any = {self.log_dir: writer}
            self.file_writer, self.all_writers = writer, every
        return self.file_writer


class RunTensorBoard(TensorBoardOutputFormat):
    """Writes a run's events.

    In a resumed run, events beyond its first step were left by a killed run, and are hidden.
    """

    def __init__(self, folder: Path, first_step: int) -> None:
        self.writer = _Summaries(folder, first_step)
        self._is_closed = False

    def describe(self, hyperparameters: Mapping[str, Any]) -> None:
        """Write hyper-parameters and the layout of the custom page.

        HPARAMS has one table for all runs in a folder, with the columns that the first of them declares. So each run
        declares the same, those of every algorithm; the cells of what it does not have stay empty.

        Args:
            hyperparameters: Values by name; any that is not a number, text or bool is written as text.
        """
        own = _plain(hyperparameters)
        writer: Any = self.writer
        summaries: Any = hparams
        columns, _, _ = summaries({**own, **_plain(all_settings())}, dict.fromkeys(METRICS, 0.0))
        _, *session = summaries(own, {})
        for summary in (columns, *session):  # add_hparams would open a separate run
            writer.file_writer.add_summary(summary)
        self.writer.add_custom_scalars(_layout())


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, bool | int | float | str) else str(value) for name, value in values.items()
    }


def _layout() -> dict[str, dict[str, list[Any]]]:
    """Return the charts of the custom page, the most important first.

    TensorBoard merges the pages of all runs in a folder, and shows a chart twice if two runs differ in it. So every run
    writes the same, whatever its tracks: curves are named by regular expressions.
    """

    def charts(name: str, trained: str) -> list[str]:
        """Return the curves of a figure: in evaluations on all tracks together and on each, and in training."""
        return [f"^eval(_[^/]+)?/{name}$", f"^{trained}$"]

    return {
        "1 laps": {
            "lap time in s": [_MULTILINE, charts("mean_lap_time_sec", "racer/mean_lap_time_sec")],
            "best lap time in s": [_MULTILINE, charts("best_lap_time_sec", "racer/best_lap_time_sec")],
            "pace in units/s": [_MULTILINE, ["eval/pace_units_per_sec"]],
            "completion": [_MULTILINE, charts("completion", "racer/completion_rate")],
        },
        "2 reward": {
            "reward of an episode": [_MULTILINE, charts("mean_reward", "rollout/ep_rew_mean")],
            "components in training": [_MULTILINE, ["reward/.*"]],
        },
        "3 driving": {
            "off track": [_MULTILINE, charts("off_track_share", "racer/off_track_share")],
            "steering reversals per second": [_MULTILINE, ["eval/steer_reversals_per_sec"]],
            "success": [_MULTILINE, ["eval/success", "eval/moving_start_success", "eval/standing_start_success"]],
            "stalls": [_MULTILINE, ["eval/stalls"]],
            "wall contact": [_MULTILINE, ["racer/wall_contact_share"]],
            "speed in units/s": [_MULTILINE, ["racer/mean_speed"]],
        },
    }
