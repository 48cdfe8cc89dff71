"""A process that trains the runs of a sweep, one after the other."""

import contextlib
import io
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tqdm import tqdm

from training.algorithms.registry import algorithm_named
from training.console.messages import first_line
from training.console.parser import DONE
from training.runs.follower import Follower
from training.runs.script import run_training
from training.sweeps.pool import Began, Ended, Evaluated, Event, RunOrder

# Each run has one thread, so that runs side by side leave one another alone; set before the libraries are loaded.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
SWEEP_IS_GONE = 3  # exit code
SIGNALLED = 128  # exit codes above it are those of signals


@dataclass(frozen=True)
class EndEarly:
    """A run is to end as soon as it can.

    Attributes:
        run: Name of the run.
        why: The reason.
    """

    run: str
    why: str


def work(orders: "Connection[Any, RunOrder | EndEarly]", reports: "Connection[Event, Any]") -> None:
    """Train every run that is ordered; the process ends with the sweep that it belongs to.

    Args:
        orders: What the sweep asks for.
        reports: What it is told.
    """
    prepare()
    inbox = _Inbox(orders)
    while True:
        order = inbox.orders.get()
        reports.send(Began(order.run))
        reports.send(train(order, order.models_dir, order.logs_dir, _Reporter(order.run, inbox, reports)))


def prepare() -> None:
    """Have this process end when its sweep ends, and by nothing else."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the sweep ends this one
    tqdm.set_lock(threading.RLock())  # its usual one is a semaphore, which a process that is killed leaves behind


class _Inbox:
    """Receives in a thread, so that a sweep that is gone, or wants a run to end, is noticed whatever is being done.

    Attributes:
        orders: Runs to train.
        to_end: Why a run is to end, by its name.
    """

    def __init__(self, connection: "Connection[Any, RunOrder | EndEarly]") -> None:
        self.orders: queue.SimpleQueue[RunOrder] = queue.SimpleQueue()
        self.to_end: dict[str, str] = {}
        self._connection = connection
        threading.Thread(target=self._receive, daemon=True).start()

    def _receive(self) -> None:
        while True:
            try:
                message = self._connection.recv()
            except (EOFError, OSError):  # whatever was being written has a temporary name
                os._exit(SWEEP_IS_GONE)
            if isinstance(message, EndEarly):
                self.to_end[message.run] = message.why
            else:
                self.to_end.pop(message.run, None)
                self.orders.put(message)


class _Reporter(Follower):
    """Tells the sweep of a run's evaluations."""

    def __init__(self, run: str, inbox: _Inbox, reports: "Connection[Event, Any]") -> None:
        self._run = run
        self._inbox = inbox
        self._reports = reports

    def evaluated(self, figures: dict[str, Any]) -> None:
        self._reports.send(Evaluated(self._run, figures))

    def why_end(self) -> str | None:
        return self._inbox.to_end.get(self._run)


def train(order: RunOrder, models_dir: Path, logs_dir: Path, follower: Follower) -> Ended:
    """Train a run in this process, as its training script does, with what that prints in a file.

    Args:
        order: The run.
        models_dir, logs_dir: Folders of its files.
        follower: Is told of its evaluations, and may end it.

    Returns:
        How it ended; a run that a signal interrupted is lost.
    """
    arguments = order.command_line(models_dir, logs_dir)
    output = order.output_path(logs_dir)
    before = sys.argv
    sys.argv = [algorithm_named(order.algorithm).script, *arguments]  # which the record of the run has
    try:
        with _printing_into(output):
            try:
                code = run_training(order.algorithm, arguments, follower)
            except SystemExit as ending:  # the command line is wrong
                code = ending.code if isinstance(ending.code, int) else 1
            except Exception as error:
                traceback.print_exc()
                return Ended(order.run, f"{type(error).__name__}: {first_line(error)}")
        return Ended(order.run, None if code == DONE else _last_error(output, code), is_lost=code > SIGNALLED)
    except OSError as error:
        return Ended(order.run, f"cannot write {output}: {error.strerror or error}")
    finally:
        sys.argv = before


class _Output(io.TextIOWrapper):
    """A file that a run prints into; of its own type, so that it is left as it is (see ``prepare_streams``)."""


@contextlib.contextmanager
def _printing_into(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        path.open("wb", buffering=0) as file,
        _Output(file, "utf-8", "backslashreplace", write_through=True) as output,
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(output),
    ):
        yield


def _last_error(output: Path, code: int) -> str:
    """Return the last line in which a script complained."""
    lines = output.read_text(encoding="utf-8").splitlines()
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    return errors[-1] if errors else f"it ended with exit code {code}, see {output}"
