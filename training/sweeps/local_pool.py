"""Runs trained by processes of this machine, which are kept warm."""

import contextlib
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterator
from multiprocessing import connection, resource_tracker
from multiprocessing.connection import Connection
from typing import Any

from training.sweeps.pool import Ended, Event, Pool, RunOrder
from training.sweeps.worker import ONE_THREAD, EndEarly, work

PATIENCE_S = 5.0  # seconds for a process to be gone once it has been killed


class LocalPool(Pool):
    """Processes that are started when they are first needed, and train one run after the other."""

    def __init__(self, workers: int) -> None:
        """Prepare; no process is started yet.

        Args:
            workers: Most processes.
        """
        self._most = workers
        self._waiting: deque[RunOrder] = deque()
        self._workers: list[_Worker] = []

    @property
    def workers(self) -> int:
        """How many runs are trained at once."""
        return self._most

    def submit(self, order: RunOrder) -> None:
        """Have a run trained as soon as there is a worker for it."""
        self._waiting.append(order)
        self._hand_out()

    def events(self, timeout_s: float) -> list[Event]:
        """Return what has happened since the last call; see the base class."""
        by_handle = {handle: worker for worker in self._workers for handle in worker.handles}
        found: list[Event] = []
        ready = connection.wait(by_handle, timeout_s)
        for worker in dict.fromkeys(by_handle[handle] for handle in ready):  # type: ignore[index]
            found += worker.events()
        self._workers = [worker for worker in self._workers if not worker.is_gone]
        self._hand_out()
        return found

    def end_early(self, run: str, why: str) -> None:
        """Have a run end as soon as it can; see the base class."""
        for worker in self._workers:
            if worker.order is not None and worker.order.run == run:
                worker.send(EndEarly(run, why))

    def close(self) -> None:
        """Kill all processes: every file that has its name is whole, and what they train starts again."""
        self._waiting.clear()
        for worker in self._workers:
            worker.kill()
        for worker in self._workers:
            worker.join()
        self._workers = []

    def _hand_out(self) -> None:
        while self._waiting:
            idle = next((worker for worker in self._workers if worker.order is None), None)
            if idle is None and len(self._workers) < self._most:
                idle = _Worker()
                self._workers.append(idle)
            if idle is None:
                return
            idle.train(self._waiting.popleft())


def cores() -> int:
    """Return the number of cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)  # only some systems have it
    return len(usable(0)) if usable is not None else os.cpu_count() or 1


class _Worker:
    """A process, and what it is doing.

    Attributes:
        order: The run that it trains; None is none.
        is_gone: Whether the process has ended.
    """

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        orders, self._orders = context.Pipe(duplex=False)
        self._reports, reports = context.Pipe(duplex=False)
        self._process = context.Process(target=work, args=(orders, reports), daemon=True)
        with _environment(ONE_THREAD), _deaf_to_ctrl_c():
            self._process.start()
        orders.close()  # so that either side notices when the other is gone
        reports.close()
        self.order: RunOrder | None = None
        self.is_gone = False

    @property
    def handles(self) -> "tuple[Connection[Any, Any], int]":
        """What becomes ready when the process reports or ends."""
        return self._reports, self._process.sentinel

    def train(self, order: RunOrder) -> None:
        """Train a run."""
        self.order = order
        self.send(order)

    def send(self, message: RunOrder | EndEarly) -> None:
        """Tell the process something; that one is gone is noticed by its end."""
        with contextlib.suppress(OSError):
            self._orders.send(message)

    def events(self) -> Iterator[Event]:
        """Yield what the process has reported, and that the run is lost if it has ended."""
        has_ended = not self._process.is_alive()  # asked first: what it reported before is still read
        try:
            while self._reports.poll():
                event = self._reports.recv()
                if isinstance(event, Ended):
                    self.order = None
                yield event
        except (EOFError, OSError):
            has_ended = True
        if has_ended:
            self.is_gone = True
            self.join()
            if self.order is not None:
                yield Ended(self.order.run, f"its process {_end_in_words(self._process.exitcode)}", is_lost=True)

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def join(self) -> None:
        """Wait for the end of the process, and close what belongs to it."""
        self._process.join(PATIENCE_S)
        self._orders.close()
        self._reports.close()


def _end_in_words(code: int | None) -> str:
    if code is None or code >= 0:
        return f"ended with exit code {code}"
    name = signal.Signals(-code).name if -code in [*signal.Signals] else f"signal {-code}"
    return f"was ended by {name}" + (", as for want of memory" if name == "SIGKILL" else "")


@contextlib.contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Have processes that are started meanwhile not notice a Ctrl-C, which reaches all processes of a terminal.

    They ignore it from their first line on; before that, each would print where it was. Windows cannot do this.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # else the first process starts it, which ends the blocking of signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)  # one that came meanwhile comes now


@contextlib.contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables for the processes that are started meanwhile."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
