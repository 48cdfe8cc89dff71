"""The machines of a cluster: which there are, and what each of them has."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from racer_env.errors import PackageError
from training.console.messages import count_of, first_line, in_short, note, say
from training.runs.versions import PACKAGES, package_versions, python_version

PATIENCE_S = 120.0  # seconds for machines to say what they have; Ray gives them the project first
COUNT_S = 2.0  # seconds between looks for machines that have joined or are gone
INSTALL = "`pip install -r requirements.txt` there brings the packages"


@dataclass
class Machine:
    """A machine of the cluster.

    Attributes:
        address: Its address.
        cores: How many cores it offers.
        answer: What it will say that it has; None once it was heard.
        is_fit: Whether it has all that a run needs.
    """

    address: str
    cores: int
    answer: "ray.ObjectRef[Any] | None"
    is_fit: bool = False


class Machines:
    """The machines of a cluster; each is asked what it has, also one that joins later."""

    def __init__(self) -> None:
        """Wait until all machines have said what they have.

        Raises:
            RunError: None can be used.
            PackageError: None has the packages that a run needs.
        """
        self._known: dict[str, Machine] = {}
        self._looked_at = -COUNT_S
        self._look()
        ray.wait([each.answer for each in self._known.values()], num_returns=len(self._known), timeout=PATIENCE_S)
        self._hear()
        fit = [each for each in self._known.values() if each.is_fit]
        if self._known and not fit:
            raise PackageError("no machine of the cluster can be used, as said above")
        cores = sum(each.cores for each in fit)
        addresses = dict.fromkeys(each.address for each in fit)
        say(f"{count_of(len(fit), 'machine')} with {count_of(cores, 'core')}: {in_short([*addresses])}")
        if not cores:
            note("the cluster has no cores yet; runs wait until a machine joins it by `ray start --address`")

    def fit(self) -> dict[str, Machine]:
        """Return the machines that can train now, by their ids."""
        if time.monotonic() - self._looked_at >= COUNT_S:
            self._look()
        self._hear()
        return {node: machine for node, machine in self._known.items() if machine.is_fit and machine.cores}

    def _look(self) -> None:
        self._looked_at = time.monotonic()
        nodes = {node["NodeID"]: node for node in ray.nodes() if node["Alive"]}
        self._known = {node: machine for node, machine in self._known.items() if node in nodes}
        for node in nodes.keys() - self._known.keys():
            where = NodeAffinitySchedulingStrategy(node, soft=False)
            answer = ray.remote(_versions).options(num_cpus=0, scheduling_strategy=where).remote(PACKAGES)
            cores = int(nodes[node]["Resources"].get("CPU", 0))
            self._known[node] = Machine(nodes[node]["NodeManagerAddress"], cores, answer)

    def _hear(self) -> None:
        """Take the answers that have come."""
        own = _versions(PACKAGES)
        for machine in self._known.values():
            if machine.answer is None or not ray.wait([machine.answer], timeout=0)[0]:
                continue
            answer, machine.answer = machine.answer, None
            try:
                found = ray.get(answer)
            except RayError as error:
                note(f"the machine {machine.address} trains nothing: {first_line(error)}")
                continue
            lacking = [name for name, version in found.items() if version is None]
            machine.is_fit = not lacking
            if lacking:
                note(f"the machine {machine.address} trains nothing, as it lacks {in_short(lacking)}; {INSTALL}")
            differing = [f"{name} {version}" for name, version in found.items() if version not in (None, own[name])]
            if machine.is_fit and differing:
                note(f"{machine.address} has {in_short(differing)}, unlike this machine; runs of both are compared")


def _versions(packages: Sequence[str]) -> dict[str, str | None]:
    return {"python": python_version(), **package_versions(packages)}
