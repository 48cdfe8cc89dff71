"""Runs trained by the machines of a Ray cluster, one task for each."""

import contextlib
import logging
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import (
    LocalRayletDiedError,
    NodeDiedError,
    ObjectLostError,
    OutOfMemoryError,
    RayActorError,
    RayError,
    RayTaskError,
    WorkerCrashedError,
)
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from racer_env.errors import PackageError, RunError
from training.console.messages import count_of, first_line, in_short, note, say
from training.runs.folders import remove_run
from training.runs.provenance import COMMIT_VARIABLE, surroundings
from training.runs.versions import PACKAGES, package_versions, python_version
from training.sweeps.cluster.luggage import pack
from training.sweeps.cluster.post import Post
from training.sweeps.cluster.project_copy import copy_project
from training.sweeps.cluster.task import LOGS, MODELS, train_elsewhere
from training.sweeps.pool import Ended, Event, Pool, RunOrder
from training.sweeps.worker import ONE_THREAD

PATIENCE_S = 120.0  # seconds for a machine to say what it has; Ray gives it the project first
COUNT_S = 2.0  # seconds between counts of the cluster's cores
INSTALL = "`pip install -r requirements.txt` there brings the packages"


class RayPool(Pool):
    """Hands runs to a cluster; every core trains one at a time. Machines may come and go meanwhile."""

    def __init__(self, address: str, most: int | None) -> None:
        """Connect; every machine is given the project, and asked what it has.

        Args:
            address: The cluster's, or ``auto`` for the one that this machine belongs to.
            most: Most runs at once; None is one for each core.

        Raises:
            RunError: There is no such cluster, it is of another version, or a machine does not answer.
            PackageError: A machine lacks packages.
        """
        self._most = most
        self._attempts = 0
        self._tasks: dict[ray.ObjectRef[Any], tuple[int, RunOrder]] = {}
        self._refused: list[Event] = []
        self._cores, self._counted_at = 0, -COUNT_S
        _connect(address)
        try:
            _survey()
            here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
            self._post = ray.remote(Post).options(num_cpus=0, scheduling_strategy=here).remote()
            self._letters = self._post.read.remote()
        except BaseException:
            ray.shutdown()
            raise

    @property
    def workers(self) -> int:
        """How many runs are trained at once: as many as the cluster now has cores, and one if it has none yet."""
        if time.monotonic() - self._counted_at >= COUNT_S:
            self._cores, self._counted_at = cores(), time.monotonic()
        return max(1, min(self._cores, self._most or self._cores))

    def submit(self, order: RunOrder) -> None:
        """Have a run trained as soon as there is a core for it."""
        try:
            luggage = pack(order)
        except OSError as error:
            self._refused.append(Ended(order.run, f"cannot read {error.filename}: {error.strerror or error}"))
            return
        self._attempts += 1
        task = ray.remote(train_elsewhere).options(num_cpus=1, max_retries=0, name=order.run)
        self._tasks[task.remote(order, luggage, self._post, self._attempts)] = self._attempts, order

    def events(self, timeout_s: float) -> list[Event]:
        """Return what has happened since the last call; see the base class."""
        found, self._refused = self._refused, []
        ready, _ = ray.wait([self._letters, *self._tasks], timeout=0 if found else timeout_s, fetch_local=False)
        found += self._read()
        for task in ready:
            if task in self._tasks:
                found.append(self._end(task))
        return found

    def _read(self) -> Iterator[Event]:
        if not ray.wait([self._letters], timeout=0)[0]:
            return
        try:
            letters = ray.get(self._letters)
        except RayActorError as error:
            raise RunError(
                f"the cluster has lost what the runs report to: {first_line(error)}; go on by --resume"
            ) from error
        self._letters = self._post.read.remote()
        current = {attempt for attempt, _ in self._tasks.values()}
        yield from (event for attempt, event in letters if attempt in current)

    def _end(self, task: "ray.ObjectRef[Any]") -> Event:
        _, order = self._tasks.pop(task)
        ended: Ended
        try:
            ended, files = ray.get(task)
        except (NodeDiedError, LocalRayletDiedError, ObjectLostError):
            return Ended(order.run, "its machine is gone", is_lost=True, machine_is_gone=True)
        except (WorkerCrashedError, OutOfMemoryError) as error:
            return Ended(order.run, f"its process is gone: {first_line(error)}", is_lost=True)
        except RayTaskError as error:
            return Ended(order.run, f"{type(error.cause).__name__}: {first_line(error.cause)}")
        except RayError as error:
            return Ended(order.run, first_line(error))
        try:
            _receive(order, files)
        except OSError as error:
            return Ended(order.run, f"cannot write {error.filename}: {error.strerror or error}")
        return ended

    def end_early(self, run: str, why: str) -> None:
        """Have a run end as soon as it can; see the base class."""
        for attempt, order in self._tasks.values():
            if order.run == run:
                self._post.end_early.remote(attempt, why)

    def close(self) -> None:
        """End all tasks at once, and leave the cluster."""
        for task in self._tasks:
            with contextlib.suppress(RayError, ValueError):
                ray.cancel(task, force=True)
        self._tasks = {}
        ray.shutdown()


def cores() -> int:
    """Return the number of cores that the cluster offers now."""
    return int(ray.cluster_resources().get("CPU", 0))


def _connect(address: str) -> None:
    variables = {**ONE_THREAD, COMMIT_VARIABLE: surroundings()["commit"] or ""}
    with tempfile.TemporaryDirectory() as folder:
        copy_project(Path(folder))
        environment = {"working_dir": folder, "env_vars": variables}
        try:
            ray.init(address, runtime_env=environment, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError, AssertionError, RayError) as error:
            raise RunError(
                f"no Ray cluster can be used at {address!r}: {first_line(error)}; `ray start --head` begins one, see "
                "docs/sweeps.md"
            ) from error


def _survey() -> None:
    """Ask every machine what it has; what is missing is refused, what differs is told."""
    machines = {node["NodeID"]: node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]}
    ask = ray.remote(_versions)
    where = {node: NodeAffinitySchedulingStrategy(node, soft=False) for node in machines}
    answers = {node: ask.options(num_cpus=0, scheduling_strategy=where[node]).remote(PACKAGES) for node in machines}
    own = _versions(PACKAGES)
    others: dict[str, list[str]] = {}
    for node, answer in answers.items():
        try:
            found = ray.get(answer, timeout=PATIENCE_S)
        except RayError as error:
            raise RunError(f"the machine {machines[node]} cannot be used: {first_line(error)}") from error
        lacking = [name for name, version in found.items() if version is None]
        if lacking:
            raise PackageError(f"the machine {machines[node]} lacks {in_short(lacking)}; {INSTALL}")
        differing = [f"{name} {version}" for name, version in found.items() if version != own[name]]
        others |= {machines[node]: differing} if differing else {}
    say(f"{count_of(len(machines), 'machine')} with {count_of(cores(), 'core')}: {in_short([*machines.values()])}")
    for machine, differing in others.items():
        note(f"{machine} has {in_short(differing)}, unlike this machine; runs of both are compared")
    if not cores():
        note("the cluster has no cores yet; runs wait until a machine joins it by `ray start --address`")


def _versions(packages: Sequence[str]) -> dict[str, str | None]:
    return {"python": python_version(), **package_versions(packages)}


def _receive(order: RunOrder, files: dict[str, bytes]) -> None:
    """Put the files of a run where they belong; what an earlier attempt has left is deleted first."""
    remove_run(order.run, order.models_dir, order.logs_dir)
    for path, content in _places(order, files.items()):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _places(order: RunOrder, files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[Path, bytes]]:
    folders = {MODELS: order.models_dir, LOGS: order.logs_dir}
    for name, content in files:
        kind, _, place = name.partition("/")
        yield folders[kind] / place, content
