"""A case in a process of its own, with limits of time and memory, and the one rule of how it may end.

Children are forked from a server that has imported everything, so that a case takes a tenth of a second instead of the
seconds of a start. Needs Linux, whose ``/proc`` tells the memory of a process.
"""

import hashlib
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PRELOADED = ["tests.soak.preloaded"]
TIME_LIMIT_S = 60.0  # seconds; a machine with other work to do is slow
MEMORY_LIMIT = 3 * 2**30  # bytes
WATCH_S = 0.02  # seconds between two looks at a process
MAX_LINE = 1_500  # characters of an error
GOOD_CODES = (0, 1, 2, 130, 143)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]")


@dataclass(frozen=True)
class Ended:
    """How a process ended.

    Attributes:
        code: Its exit code; negative for a signal.
        output, errors: What it printed.
        stopped: Why it was stopped from outside; None if it ended by itself.
    """

    code: int
    output: str
    errors: str
    stopped: str | None = None


def fault_of(ended: Ended, codes: Sequence[int] = GOOD_CODES) -> str | None:
    """Return what is wrong with how a process ended; None if nothing is.

    It ends within its limits with one of the exit codes, without a traceback or a control character; if it could not
    run, the last thing that it says is one line of error.
    """
    lines = [line for line in ended.errors.splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    if ended.stopped is not None:
        return ended.stopped
    if "Traceback (most recent call last)" in ended.errors:
        return f"traceback: {_cause_of(lines)}"
    if ended.code < 0:
        return f"it died of {signal.Signals(-ended.code).name}: {last[:200]}"
    if ended.code not in codes:
        return f"exit code {ended.code}: {last[:200]}"
    if ended.code == 2 and not last.startswith("error: "):
        return f"exit code 2 without an error as its last line: {last[:200]!r}"
    if len(last) > MAX_LINE:
        return f"an error of {len(last)} characters: {last[:200]}"
    control = _CONTROL.search(ended.errors + ended.output)
    return None if control is None else f"a control character, {control[0]!r}, in what it prints"


def _cause_of(lines: Sequence[str]) -> str:
    """Return the exception of a traceback, and the last place of the project that it passed."""
    places = [line.strip() for line in lines if re.search(r'File ".*/(racer_env|training)/', line)]
    place = re.sub(r'File ".*/((racer_env|training)/[^"]*)", line (\d+)', r"\1:\3", places[-1]) if places else ""
    causes = [line for line in lines if re.match(r"[\w.]+(Error|Exception|Warning|Exit)?(: |$)", line)]
    return f"{(causes or lines)[-1][:200]} at {place}"


def forked(target: Callable[..., Any], *arguments: Any, folder: Path, **limits: Any) -> Ended:
    """Run a function in a child of the server; its result is the exit code.

    Args:
        target: A function of a module.
        arguments: Its arguments.
        folder: Existing folder for what it prints.
        limits: As in ``watch``.
    """
    return finish(start(target, *arguments, folder=folder), folder, **limits)


def start(target: Callable[..., Any], *arguments: Any, folder: Path) -> Any:
    """Start a function in a child of the server and return the process; the rest is as in ``forked``."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    process = context.Process(target=_enter, args=(target, arguments, folder))
    process.start()
    return process


def finish(process: Any, folder: Path, **limits: Any) -> Ended:
    """Wait for a process of ``start``, within limits as in ``watch``."""
    stopped = watch(process.pid, lambda: not process.is_alive(), **limits)
    process.join()
    return Ended(process.exitcode or 0, _read(folder / "stdout"), _read(folder / "stderr"), stopped)


def pipe() -> Any:
    """Return the two ends of a pipe to a child of the server: for reading, and for writing."""
    return multiprocessing.get_context("forkserver").Pipe(duplex=False)


def _enter(target: Callable[..., Any], arguments: Sequence[Any], folder: Path) -> None:
    for number, name in ((1, "stdout"), (2, "stderr")):
        handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, number)
        os.close(handle)
    sys.exit(target(*arguments))


def ran(command: Sequence[str], *, folder: Path, environment: Mapping[str, str] | None = None, **options: Any) -> Ended:
    """Run a command.

    Args:
        command: The command.
        folder: Existing folder for what it prints.
        environment: Variables besides those of this process.
        options: ``limit_s`` and ``memory`` as in ``watch``, ``codes``; others are those of ``subprocess.Popen``.
    """
    limits = {name: options.pop(name) for name in ("limit_s", "memory") if name in options}
    with (folder / "stdout").open("wb") as output, (folder / "stderr").open("wb") as errors:
        streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": errors}
        variables = {**os.environ, **(environment or {})}
        process = subprocess.Popen(command, env=variables, **{**streams, **options})
    stopped = watch(process.pid, lambda: process.poll() is not None, **limits)
    return Ended(process.wait(), _read(folder / "stdout"), _read(folder / "stderr"), stopped)


def watch(
    pid: int, has_ended: Callable[[], bool], limit_s: float = TIME_LIMIT_S, memory: int = MEMORY_LIMIT
) -> str | None:
    """Wait for a process to end; kill it beyond its limits, and return which one it was.

    Args:
        pid: Id of a child that nobody else waits for.
        has_ended: Whether it has.
        limit_s: Time limit in seconds.
        memory: Limit of its resident memory in bytes.
    """
    end = time.monotonic() + limit_s
    while not has_ended():
        why = f"still running after {limit_s:g} s" if time.monotonic() > end else None
        if memory_of(pid) > memory:
            why = f"more than {memory / 2**30:.2g} GB of memory"
        if why is not None:
            os.kill(pid, signal.SIGKILL)
            return why
        time.sleep(WATCH_S)
    return None


def memory_of(pid: int) -> int:
    """Return the resident memory of a process in bytes; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def contents(folder: Path) -> dict[str, str]:
    """Return a digest of every file of a folder, by its path in it."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def lost(before: Mapping[str, str], folder: Path) -> str | None:
    """Return which file of before is gone or changed; None if all are as they were."""
    now = contents(folder)
    gone = [name for name, digest in before.items() if now.get(name) != digest]
    return f"it changed or deleted {json.dumps(gone[:3])}" if gone else None


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
