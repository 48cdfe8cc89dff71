"""A real Ray cluster of two machines with a core each, in a network of its own that nothing outside can reach."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from racer_env.project import PROJECT_ROOT

ADDRESS = "127.0.0.1:6379"
RAY = shutil.which("ray", path=Path(sys.executable).parent)


def why_not() -> str | None:
    """Return why there can be no such cluster here; None if there can."""
    if RAY is None:
        return "Ray is not installed (requirements-cluster.txt)"
    if shutil.which("unshare") is None or shutil.which("nsenter") is None or shutil.which("ip") is None:
        return "a network of its own needs Linux with unshare, nsenter and ip (util-linux, iproute2)"
    made = subprocess.run([*_unshare(), "ip", "link", "set", "lo", "up"], capture_output=True, text=True, check=False)
    return None if made.returncode == 0 else f"no network of its own can be made: {made.stderr.strip()}"


def _unshare() -> list[str]:
    return ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--net"]


class Machines:
    """The cluster; its second machine can be switched off."""

    def __init__(self, folder: Path) -> None:
        """Start both.

        Args:
            folder: Where Ray and Numba keep their files; its name is short, as paths of sockets are. The machines know
                no other: the project is not there.
        """
        keeper = subprocess.Popen(
            [*_unshare(), "sh", "-c", "ip link set lo up && echo ready && exec sleep infinity"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert keeper.stdout is not None
        assert keeper.stdout.readline() == "ready\n"
        self._keeper, self._folder = keeper, folder
        self._environment = {
            **os.environ,
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_AUTH_MODE": "disabled",  # a token that lies in the user's folder would switch it on
            "RAY_worker_niceness": "0",  # the tests beside these would keep the runs waiting
            "NUMBA_CACHE_DIR": str(folder / "numba"),
        }
        head = ("--head", "--node-ip-address=127.0.0.1", "--include-dashboard=false", f"--temp-dir={folder / 'ray'}")
        self._start(*head)
        self.switch_on_another()

    def _start(self, *arguments: str) -> None:
        assert RAY is not None
        command = [RAY, "start", "--num-cpus=1", "--disable-usage-stats", *arguments]
        started = subprocess.run(
            self.inside(command),
            env=self._environment,
            cwd=self._folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=100,
            check=False,
        )
        assert started.returncode == 0, started.stdout

    def inside(self, command: Sequence[str]) -> list[str]:
        """Return a command that runs another one inside the network."""
        user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
        return ["nsenter", "--target", str(self._keeper.pid), *user, "--net", *command]

    def begin(self, folder: Path, *arguments: str) -> "subprocess.Popen[str]":
        """Begin a sweep on the cluster, with its output in one stream.

        Args:
            folder: Its current folder.
            arguments: Its command line.
        """
        own = ("--ray", "auto", "--models-dir", "models", "--logs-dir", "logs")
        return self._python(folder, "-m", "training.sweep", *own, *arguments)

    def script(self, folder: Path, code: str) -> "subprocess.Popen[str]":
        """Begin a Python script inside the network, as ``begin`` does with a sweep."""
        return self._python(folder, "-c", code)

    def _python(self, folder: Path, *arguments: str) -> "subprocess.Popen[str]":
        command = self.inside([sys.executable, *arguments])
        environment = {**self._environment, "PYTHONPATH": str(PROJECT_ROOT)}
        streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, **streams)

    def sweep(self, folder: Path, *arguments: str) -> str:
        """Have a sweep done on the cluster, and return its output."""
        with self.begin(folder, *arguments) as process:
            output, _ = process.communicate(timeout=200)
        assert process.returncode == 0, output
        return output

    def switch_off_the_second(self) -> None:
        """Kill the second machine with all that runs on it."""
        self._kill([*_descendants(self._second), self._second])

    def switch_on_another(self) -> None:
        """Have another second machine join."""
        before = self._raylets()
        self._start(f"--address={ADDRESS}")
        (self._second,) = self._raylets() - before

    def close(self) -> None:
        """Kill everything inside the network."""
        self._kill(pid for pid in self._own_processes() if pid != self._keeper.pid)
        self._keeper.kill()
        self._keeper.wait()

    def tasks(self) -> list[int]:
        """Return the processes that train runs of a trial now."""
        return [pid for pid in self._own_processes() if _command_of(pid).startswith("ray::trial_")]

    def _own_processes(self) -> list[int]:
        own = _network_of(self._keeper.pid)
        return [pid for pid in _processes() if _network_of(pid) == own]

    def _raylets(self) -> set[int]:
        return {pid for pid in self._own_processes() if "/raylet/raylet" in _command_of(pid).partition(" ")[0]}

    @staticmethod
    def _kill(processes: Iterable[int]) -> None:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def _network_of(pid: int) -> int | None:
    try:
        return Path(f"/proc/{pid}/ns/net").stat().st_ino
    except OSError:
        return None


def _descendants(pid: int) -> list[int]:
    parents = {child: _parent_of(child) for child in _processes()}
    found, level = [], [pid]
    while level:
        level = [child for child, parent in parents.items() if parent in level]
        found += level
    return found


def _parent_of(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None
