"""A sweep's place on disk: its name, exclusive access, and what it was asked for."""

import contextlib
import json
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from racer_env.errors import ModelError, RunError
from racer_env.json_files import read_json
from training.checkpoints.writing import replacing
from training.runs.folders import choose_run_name, hold_run

SWEEP_NAME = "sweep.json"
BEST_NAME = "best.json"
PATIENCE_S = 30.0  # seconds


def choose_name(wanted: str | None, models_dir: Path, logs_dir: Path, refused: Collection[str] = ()) -> str:
    """Return the name of a new sweep.

    Args:
        wanted: Name that the user asked for; None is the next free ``sweep_<number>``.
        models_dir, logs_dir: Folders in which the sweep's own folders will be.
        refused: Automatic names that other processes hold.

    Raises:
        RunError: The name is in use, or cannot be part of a file name.
    """
    if wanted is not None and is_used(wanted, models_dir, logs_dir):
        what = "a sweep" if (logs_dir / wanted / SWEEP_NAME).is_file() else "something else"
        go_on = f"go on with it by --resume {wanted}, or " if what == "a sweep" else ""
        raise RunError(f"there are files of {what} of the name {wanted!r} already; {go_on}choose another --name")
    taken = {*refused, *(path.name for path in models_dir.glob("sweep_*") if path.is_dir())}
    try:
        return choose_run_name(wanted, "sweep", models_dir, logs_dir, may_exist=False, taken=taken)
    except ModelError as error:
        raise RunError(str(error).replace("a run's name", "a sweep's name").replace("--run-name", "--name")) from error


def is_used(name: str, models_dir: Path, logs_dir: Path) -> bool:
    """Return whether a folder of that name is there, of a sweep or of a run."""
    return (models_dir / name).exists() or (logs_dir / name).exists()


def claim(wanted: str | None, models_dir: Path, logs_dir: Path, stack: contextlib.ExitStack) -> str:
    """Take the name of a new sweep on disk, for as long as ``stack`` is entered, and return it.

    Raises:
        RunError: The name is in use, or cannot be part of a file name.
        OSError: A folder cannot be made.
    """
    refused = set[str]()
    while True:
        name = choose_name(wanted, models_dir, logs_dir, refused)
        try:
            with contextlib.ExitStack() as attempt:
                attempt.enter_context(hold_sweep(name, models_dir, logs_dir))
                (logs_dir / name).mkdir(parents=True)
                stack.enter_context(attempt.pop_all())
                return name
        except (RunError, FileExistsError):  # another sweep has just taken it
            if wanted is not None:
                raise
            refused.add(name)


@contextlib.contextmanager
def hold_sweep(name: str, models_dir: Path, logs_dir: Path) -> Iterator[None]:
    """Keep all other processes from carrying out a sweep of that name; it is released if this process is killed.

    Raises:
        RunError: Another process holds the name.
        OSError: A folder cannot be made or written to.
    """
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(hold_run(name, models_dir, logs_dir))
        except ModelError as error:
            raise RunError(
                f"another process is carrying out the sweep {name!r}; wait for its end, or choose another --name"
            ) from error
        yield


def await_end(runs: Iterable[str], models_dir: Path, logs_dir: Path) -> None:
    """Wait until runs are no longer trained: the processes of a sweep that was killed take a moment to end.

    Args:
        runs: Names of the runs.
        models_dir, logs_dir: Folders of the sweep.

    Raises:
        ModelError: A run is still being trained.
    """
    end = time.monotonic() + PATIENCE_S
    for run in runs:
        while True:
            try:
                with hold_run(run, models_dir, logs_dir):
                    break
            except ModelError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)


def write_sweep(folder: Path, document: dict[str, Any]) -> None:
    """Write what a sweep was asked for, before anything else of it."""
    with replacing(folder / SWEEP_NAME) as beside:
        beside.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def read_sweep(folder: Path) -> dict[str, Any]:
    """Return what a sweep was asked for.

    Raises:
        RunError: There is no such sweep, or the file is damaged.
    """
    path = folder / SWEEP_NAME
    if not path.is_file():
        there = sorted(found.parent.name for found in folder.parent.glob(f"*/{SWEEP_NAME}"))
        hint = f"there are: {', '.join(there[:8])}" if there else "python -m training.sweep makes one"
        raise RunError(f"no sweep {folder.name!r} in {folder.parent}; {hint}")
    document = read_json(path, RunError, "sweep")
    if not isinstance(document, dict) or not isinstance(document.get("arguments"), list):
        raise RunError(f"{path} does not say what the sweep was asked for; put a copy back, or begin another sweep")
    return document
