"""What a sweep needs of whatever trains its runs: processes of this machine, or of several."""

import abc
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self


@dataclass(frozen=True)
class RunOrder:
    """A run that is to be trained.

    Attributes:
        run: Name of the run; a sweep orders a name again only after its ``Ended``.
        algorithm: Name of the algorithm.
        options: Command line of the algorithm's training script, without the name of the run and without folders.
        models_dir, logs_dir: Folders of the sweep, in which the files of the run must be when its ``Ended`` is told.
    """

    run: str
    algorithm: str
    options: tuple[str, ...]
    models_dir: Path
    logs_dir: Path

    def command_line(self, models_dir: Path | None = None, logs_dir: Path | None = None) -> list[str]:
        """Return the whole command line; what an earlier attempt has left of the run is deleted first.

        Args:
            models_dir, logs_dir: Folders to train in; None are those of the sweep.
        """
        folders = ["--models-dir", str(models_dir or self.models_dir), "--logs-dir", str(logs_dir or self.logs_dir)]
        return [*self.options, "--run-name", self.run, "--overwrite", *folders]

    def output_path(self, logs_dir: Path | None = None) -> Path:
        """Return the file of what the training script prints; it is beside the folder of the run's logs."""
        return (logs_dir or self.logs_dir) / f"{self.run}.txt"


@dataclass(frozen=True)
class Began:
    """A run is being trained from now on; told once for each order.

    Attributes:
        run: Name of the run.
    """

    run: str


@dataclass(frozen=True)
class Evaluated:
    """A run was evaluated.

    Attributes:
        run: Name of the run.
        figures: The line of its ``evaluations.jsonl``.
    """

    run: str
    figures: dict[str, Any]


@dataclass(frozen=True)
class Ended:
    """A run is no longer trained, and its files are complete; told once for each order, and then nothing more.

    Attributes:
        run: Name of the run.
        why_failed: What went wrong, in one line; None if the run was trained, also if it was ended early.
        is_lost: Whether the process that trained it is gone, so that another attempt may do better.
        machine_is_gone: Whether the whole machine is, which is no fault of the run.
    """

    run: str
    why_failed: str | None = None
    is_lost: bool = False
    machine_is_gone: bool = False


Event = Began | Evaluated | Ended


class Pool(abc.ABC):
    """Trains runs side by side, each in a process with one thread; a process trains one run after the other."""

    @property
    @abc.abstractmethod
    def workers(self) -> int:
        """How many runs are trained at once; it may change while the pool is open."""

    @abc.abstractmethod
    def submit(self, order: RunOrder) -> None:
        """Have a run trained as soon as there is a worker for it."""

    @abc.abstractmethod
    def events(self, timeout_s: float) -> list[Event]:
        """Return what has happened since the last call, in the order in which it did.

        Args:
            timeout_s: How long to wait, in seconds, if nothing has happened yet.
        """

    @abc.abstractmethod
    def end_early(self, run: str, why: str) -> None:
        """Have a run end as soon as it can, as a trained one; nothing happens if it is not being trained.

        Args:
            run: Name of the run.
            why: The reason, for what the run prints.
        """

    @abc.abstractmethod
    def close(self) -> None:
        """End everything at once, also what is being trained; safe to call twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()
