"""The runs of a comparison, found by the names of runs and sweeps, and read back from their logs."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from racer_env.errors import RunError
from racer_env.json_files import read_json
from training.checkpoints.files import BEST, FINAL, model_path
from training.comparisons.measures import is_whole
from training.console.arguments import MODELS_DIR
from training.console.messages import count_of, in_short, note
from training.runs.evaluations import read_evaluations
from training.runs.folders import RECORD_NAME, check_run_folder, records_of
from training.sweeps.folders import SWEEP_NAME

MAX_LINES = 10  # most lines about runs of one kind


@dataclass(frozen=True)
class FoundRun:
    """A run, as its logs have it.

    Attributes:
        name: Name of the run.
        given: The name by which the user asked for it: its own, that of its sweep, or a pattern.
        sweep: Name of the sweep, or of another folder with runs inside, that it is in; empty if it is in none.
        folder: Folder of its logs.
        models_dir: Folder of its models.
        records: Records of its stretches, the first one first.
        evaluations: Its evaluations, at least one, as ``read_evaluations`` returns them.
    """

    name: str
    given: str
    sweep: str
    folder: Path
    models_dir: Path
    records: tuple[dict[str, Any], ...]
    evaluations: list[dict[str, Any]] = dataclasses.field(repr=False)

    @property
    def algorithm(self) -> str:
        """Name of its algorithm."""
        return str(self.records[0].get("algorithm"))

    @property
    def seed(self) -> int:
        """Seed that it began with."""
        seed = self.records[0].get("seed")
        return seed if type(seed) is int else 0

    @property
    def timesteps(self) -> int:
        """Environment steps that it was asked for, all stretches together."""
        numbers = (self.records[-1].get(name) for name in ("first_step", "timesteps"))
        return sum(number for number in numbers if type(number) is int)

    @property
    def best_model(self) -> Path:
        """Path of its best model, which may not be there."""
        return model_path(self.models_dir, self.name, BEST)

    @property
    def is_finished(self) -> bool:
        """Whether it has trained all of its steps, or ended as soon as it was good enough, as was asked for."""
        if self.evaluations[-1]["steps"] >= self.timesteps:
            return True
        arguments = self.records[-1].get("arguments")
        may_end = isinstance(arguments, dict) and any(map(arguments.get, ("stop_when_competent", "stop_when_lap_time")))
        return may_end and self.has_ended

    @property
    def has_ended(self) -> bool:
        """Whether it has ended by itself: its last model is there."""
        return model_path(self.models_dir, self.name, FINAL).is_file()


def find_runs(names: Sequence[str], logs_dir: Path, models_dir: Path | None = None) -> list[FoundRun]:
    """Return the runs that names stand for, and say of each other one why it is left out.

    Args:
        names: Names of runs, of sweeps or other folders with runs inside, and patterns such as ``ppo_run_*``, within
            the folder of logs; or paths of such folders.
        logs_dir: Folder of logs.
        models_dir: Folder of models; None is the one that a run's record names, if it is there.

    Raises:
        RunError: None of them can be compared.
    """
    folders: dict[Path, str] = {}
    found, left_out = [], []
    for name in names:
        try:
            for folder in _folders(name, logs_dir):
                folders.setdefault(folder, name)
        except RunError as error:
            left_out.append(str(error))
    for folder, given in folders.items():
        try:
            found.append(_read(folder, given, logs_dir, models_dir))
        except RunError as error:
            left_out.append(str(error))
    if not found and len(left_out) == 1:
        raise RunError(f"nothing to compare: {left_out[0]}")
    _note_each(left_out, "left out")
    if not found:
        raise RunError(f"nothing to compare: none of {in_short(names)} in {logs_dir} is a run with evaluations")
    _note_unfinished(found)
    return found


def is_sweep(folder: Path) -> bool:
    """Return whether a folder of logs is that of a sweep, or holds runs in another way."""
    return not (folder / RECORD_NAME).exists() and ((folder / SWEEP_NAME).is_file() or bool(_runs_in(folder)))


def folder_of(name: str, logs_dir: Path) -> Path:
    """Return the folder that a name stands for: one in the folder of logs, or else a path."""
    return logs_dir / name if (logs_dir / name).is_dir() or not Path(name).is_dir() else Path(name)


def _folders(name: str, logs_dir: Path) -> list[Path]:
    """Return the folders of the runs that a name stands for; that of a run may be missing.

    Raises:
        RunError: No folder matches a pattern, or a sweep has no runs yet.
    """
    if any(character in name for character in "*?["):
        matching = [] if Path(name).is_absolute() else sorted(filter(Path.is_dir, logs_dir.glob(name)))
        if not matching:
            raise RunError(f"nothing in {logs_dir} matches {name!r}")
        return [run for folder in matching for run in (_runs_in(folder) if is_sweep(folder) else [folder])]
    folder = folder_of(name, logs_dir)
    if not is_sweep(folder):
        return [folder]
    runs = _runs_in(folder)
    if not runs:
        raise RunError(f"the sweep {name} has no runs yet")
    return runs


def _runs_in(folder: Path) -> list[Path]:
    """Return the folders of runs in a folder: in that of a sweep all, also one whose record is missing."""
    if (folder / SWEEP_NAME).is_file():
        return sorted(path for path in folder.iterdir() if path.is_dir())
    return sorted(path.parent for path in folder.glob(f"*/{RECORD_NAME}"))


def _read(folder: Path, given: str, logs_dir: Path, models_dir: Path | None) -> FoundRun:
    """Read a run back.

    Raises:
        RunError: There is no such run, it has no whole record, or no evaluations.
    """
    check_run_folder(folder.name, folder.parent)
    records = [_record(path) for path in records_of(folder)]
    if not records:
        raise RunError(f"{folder} has no {RECORD_NAME}, so what it was trained with is not known")
    evaluations = [*filter(is_whole, read_evaluations(folder))]
    if not evaluations:
        raise RunError(f"{folder} has no evaluations: none yet, or trained with --eval-freq 0, or by an older version")
    sweep = "" if folder.parent.resolve() == logs_dir.resolve() else folder.parent.name
    models = _models_dir(folder, logs_dir, models_dir, records[0])
    return FoundRun(folder.name, given, sweep, folder, models, tuple(records), evaluations)


def _record(path: Path) -> dict[str, Any]:
    record = read_json(path, RunError, "run record")
    if not isinstance(record, dict):
        raise RunError(f"{path} is no record of a run; expected an object as training writes it")
    return record


def _models_dir(folder: Path, logs_dir: Path, models_dir: Path | None, record: dict[str, Any]) -> Path:
    """Return where the models of a run are: in the folder that it was trained with, or at the same place elsewhere."""
    arguments = record.get("arguments")
    named = arguments.get("models_dir") if isinstance(arguments, dict) else None
    if models_dir is None and isinstance(named, str) and Path(named).is_dir():
        return Path(named)
    inside = folder.parent.relative_to(logs_dir) if folder.parent.is_relative_to(logs_dir) else Path()
    return (models_dir or MODELS_DIR) / inside


def _note_unfinished(runs: Sequence[FoundRun]) -> None:
    """Say which runs have not trained all of their steps; their figures are those until then."""
    sentences = []
    for run in runs:
        if not run.is_finished:
            is_open = not run.has_ended and (run.models_dir / f".{run.name}.lock").exists()
            state = "is being trained, or was killed" if is_open else "ended early"
            where = f"{run.evaluations[-1]['steps']:,} of {count_of(run.timesteps, 'step')}"
            sentences.append(f"{run.folder} {state}: compared by its evaluations until {where}")
    _note_each(sentences, "not finished")


def _note_each(sentences: Sequence[str], what: str) -> None:
    for sentence in sentences[:MAX_LINES]:
        note(f"{what}: {sentence}")
    if len(sentences) > MAX_LINES:
        note(f"{what}: {count_of(len(sentences) - MAX_LINES, 'more run')}")
