"""Training a run on another machine, in a folder that is deleted afterwards: what it left goes back to the sweep."""

import contextlib
import dataclasses
import importlib
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ray

from training.runs.follower import Follower
from training.sweeps.cluster.luggage import Luggage
from training.sweeps.pool import Began, Ended, Evaluated, RunOrder
from training.sweeps.worker import prepare, train

POLL_S = 1.0  # seconds between questions whether the run is to end
MODELS, LOGS = "models", "logs"  # what the names of a run's files begin with, on their way back


def train_elsewhere(order: RunOrder, luggage: Luggage, post: Any, attempt: int) -> tuple[Ended, dict[str, bytes]]:
    """Train a run; a task of Ray's.

    Args:
        order: The run.
        luggage: Its options as they are here, and the files that they name.
        post: Handle of the sweep's ``Post``.
        attempt: Number of this attempt.

    Returns:
        How it ended, and its files: content by path, which begins with MODELS or LOGS.
    """
    post.tell.remote(attempt, Began(order.run))
    prepare()
    here = dataclasses.replace(order, options=luggage.options)
    models_dir, logs_dir = luggage.models_dir, luggage.logs_dir
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, contextlib.chdir(folder):
        luggage.unpack(Path())
        with _Reporter(order.run, post, attempt) as follower, _importable(folder):
            ended = train(here, models_dir, logs_dir, follower)
        made = {**_files(MODELS, models_dir), **_files(LOGS, logs_dir)}
        return ended, {name: path.read_bytes() for name, path in made.items() if path.as_posix() not in luggage.files}


class _Reporter(Follower):
    """Tells the sweep of a run's evaluations, and asks in a thread whether it is to end."""

    def __init__(self, run: str, post: Any, attempt: int) -> None:
        self._run, self._post, self._attempt = run, post, attempt
        self._why: str | None = None
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)

    def evaluated(self, figures: dict[str, Any]) -> None:
        self._post.tell.remote(self._attempt, Evaluated(self._run, figures))

    def why_end(self) -> str | None:
        return self._why

    def __enter__(self) -> "_Reporter":
        self._thread.start()
        return self

    def __exit__(self, *details: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _ask(self) -> None:
        while not self._is_over.wait(POLL_S):
            self._why = ray.get(self._post.why_end.remote(self._attempt))


@contextlib.contextmanager
def _importable(folder: str) -> Iterator[None]:
    """Have Python find code of the user's in a folder, as it does in the current folder of the sweep.

    The process trains other runs afterwards, so it forgets that code: the folder is gone then.
    """
    path, modules = sys.path, {*sys.modules}
    sys.path = [folder, *path]
    try:
        yield
    finally:
        sys.path = path
        for name in sys.modules.keys() - modules:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(folder):
                del sys.modules[name]
        importlib.invalidate_caches()


def _files(kind: str, folder: Path) -> dict[str, Path]:
    """Return the files of a folder, but for those that hold locks."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {f"{kind}/{path.relative_to(folder).as_posix()}": path for path in files}
