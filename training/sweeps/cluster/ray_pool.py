"""Runs trained by the machines of a Ray cluster, one task for each."""

import contextlib
import logging
import tempfile
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import (
    LocalRayletDiedError,
    NodeDiedError,
    ObjectLostError,
    OutOfMemoryError,
    RayError,
    RayTaskError,
    TaskUnschedulableError,
    WorkerCrashedError,
)
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from racer_env.errors import RunError
from training.checkpoints.writing import naming
from training.console.messages import first_line
from training.runs.folders import remove_run
from training.runs.provenance import COMMIT_VARIABLE, surroundings
from training.sweeps.cluster.luggage import Luggage, pack
from training.sweeps.cluster.machines import Machines
from training.sweeps.cluster.post import Post
from training.sweeps.cluster.project_copy import copy_project
from training.sweeps.cluster.task import LOGS, MODELS, train_elsewhere
from training.sweeps.pool import Ended, Event, Pool, RunOrder
from training.sweeps.worker import ONE_THREAD

_MACHINE_IS_GONE = (NodeDiedError, LocalRayletDiedError, ObjectLostError, TaskUnschedulableError)


class RayPool(Pool):
    """Hands runs to a cluster; every core trains one at a time. Machines may come and go meanwhile."""

    def __init__(self, address: str, most: int | None) -> None:
        """Connect; every machine is given the project, and asked what it has.

        Args:
            address: The cluster's, or ``auto`` for the one that this machine belongs to.
            most: Most runs at once; None is one for each core.

        Raises:
            RunError: There is no such cluster, or it is of another version.
            PackageError: No machine has the packages that a run needs.
        """
        self._most = most
        self._attempts = 0
        self._waiting: deque[tuple[int, RunOrder, Luggage]] = deque()
        self._tasks: dict[ray.ObjectRef[Any], _Task] = {}
        self._refused: list[Event] = []
        _connect(address)
        try:
            self._machines = Machines()
            here = _on(ray.get_runtime_context().get_node_id())
            self._post = ray.remote(Post).options(num_cpus=0, scheduling_strategy=here).remote()
            self._letters = self._post.read.remote()
        except BaseException:
            ray.shutdown()
            raise

    @property
    def workers(self) -> int:
        """How many runs are trained at once: as many as the cluster now has cores, and one if it has none yet."""
        with _usable():
            cores = sum(machine.cores for machine in self._machines.fit().values())
        return max(1, min(cores, self._most or cores))

    def submit(self, order: RunOrder) -> None:
        """Have a run trained as soon as there is a core for it."""
        try:
            luggage = pack(order)
        except OSError as error:
            self._refused.append(Ended(order.run, f"cannot read {error.filename}: {error.strerror or error}"))
            return
        self._attempts += 1
        self._waiting.append((self._attempts, order, luggage))
        with _usable():
            self._hand_out()

    def _hand_out(self) -> None:
        """Give waiting runs to machines with a free core."""
        machines = self._machines.fit()
        taken = Counter(task.node for task in self._tasks.values())
        while self._waiting:
            free = {node: machine.cores - taken[node] for node, machine in machines.items()}
            node = max(free, key=lambda node: free[node], default=None)
            if node is None or free[node] <= 0:
                return
            taken[node] += 1
            attempt, order, luggage = self._waiting.popleft()
            task = ray.remote(train_elsewhere).options(
                num_cpus=1, max_retries=0, name=order.run, scheduling_strategy=_on(node)
            )
            self._tasks[task.remote(order, luggage, self._post, attempt)] = _Task(attempt, order, node)

    def events(self, timeout_s: float) -> list[Event]:
        """Return what has happened since the last call; see the base class.

        Raises:
            RunError: The cluster can no longer be used.
            OSError: The files of a run cannot be written.
        """
        found, self._refused = self._refused, []
        with _usable():
            ready, _ = ray.wait([self._letters, *self._tasks], timeout=0 if found else timeout_s, fetch_local=False)
            found += self._read()
            found += [self._end(task) for task in ready if task in self._tasks]
            self._hand_out()
        return found

    def _read(self) -> Iterator[Event]:
        if not ray.wait([self._letters], timeout=0)[0]:
            return
        letters = ray.get(self._letters)
        self._letters = self._post.read.remote()
        current = {task.attempt for task in self._tasks.values()}
        yield from (event for attempt, event in letters if attempt in current)

    def _end(self, ref: "ray.ObjectRef[Any]") -> Event:
        order = self._tasks.pop(ref).order
        ended: Ended
        try:
            ended, files = ray.get(ref)
        except _MACHINE_IS_GONE:
            return Ended(order.run, "its machine is gone", is_lost=True, machine_is_gone=True)
        except (WorkerCrashedError, OutOfMemoryError) as error:
            return Ended(order.run, f"its process is gone: {first_line(error)}", is_lost=True)
        except RayTaskError as error:
            return Ended(order.run, f"{type(error.cause).__name__}: {first_line(error.cause)}")
        _receive(order, files)
        return ended

    def end_early(self, run: str, why: str) -> None:
        """Have a run end as soon as it can; see the base class."""
        for task in self._tasks.values():
            if task.order.run == run:
                self._post.end_early.remote(task.attempt, why)

    def close(self) -> None:
        """End all tasks at once, and leave the cluster."""
        for task in self._tasks:
            with contextlib.suppress(RayError, ValueError):
                ray.cancel(task, force=True)
        self._tasks = {}
        self._waiting.clear()
        ray.shutdown()


@dataclass(frozen=True)
class _Task:
    """A task of Ray's.

    Attributes:
        attempt: Number of the attempt at its run.
        order: The run.
        node: Id of the machine that it is for.
    """

    attempt: int
    order: RunOrder
    node: str


@contextlib.contextmanager
def _usable() -> Iterator[None]:
    """Say so in one line if the cluster breaks down meanwhile; the runs that are on their way have not failed."""
    try:
        yield
    except RayError as error:
        raise RunError(f"the cluster can no longer be used: {first_line(error)}; go on by --resume") from error


def _on(node: str) -> NodeAffinitySchedulingStrategy:
    return NodeAffinitySchedulingStrategy(node, soft=False)


def _connect(address: str) -> None:
    if address == "local":
        raise RunError("--ray local is no cluster; leave out --ray to train on this machine alone")
    variables = {**ONE_THREAD, COMMIT_VARIABLE: surroundings()["commit"] or ""}
    with tempfile.TemporaryDirectory() as folder:
        copy_project(Path(folder))
        environment = {"working_dir": folder, "env_vars": variables}
        try:
            ray.init(address, runtime_env=environment, log_to_driver=False, logging_level=logging.CRITICAL)
        except (ConnectionError, RuntimeError, ValueError, AssertionError, RayError) as error:
            raise RunError(
                f"no Ray cluster can be used at {address!r}: {first_line(error)}; `ray start --head` begins one, see "
                "docs/sweeps.md"
            ) from error


def _receive(order: RunOrder, files: dict[str, bytes]) -> None:
    """Put the files of a run where they belong; what an earlier attempt has left is deleted first.

    Raises:
        OSError: One cannot be written; then none of them stays.
    """
    remove_run(order.run, order.models_dir, order.logs_dir)
    try:
        for path, content in _places(order, files.items()):
            path.parent.mkdir(parents=True, exist_ok=True)
            with naming(path):
                path.write_bytes(content)
    except OSError:
        remove_run(order.run, order.models_dir, order.logs_dir)
        raise


def _places(order: RunOrder, files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[Path, bytes]]:
    folders = {MODELS: order.models_dir, LOGS: order.logs_dir}
    for name, content in files:
        kind, _, place = name.partition("/")
        yield folders[kind] / place, content
