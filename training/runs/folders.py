"""A run's place on disk: its name, exclusive access, and which of its files are kept or deleted."""

import contextlib
import itertools
import re
import shutil
import tempfile
import warnings
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from filelock import FileLock, Timeout

from racer_env.errors import ModelError, RunError
from training.checkpoints.files import PERIODIC, TAGGED, models_of, run_of
from training.checkpoints.leftovers import clear_leftovers
from training.checkpoints.pruning import delete_model
from training.checkpoints.writing import naming, without_link
from training.console.messages import first_line, note

RECORD_NAME = "config.json"  # record of what the run was started with
_STRETCH = re.compile(r"config_from_(?P<steps>\d+)_steps\.json")
MAX_NAME = 100  # bytes of a new name; branches of the run and its files have longer ones
MAX_OLD_NAME = 200  # bytes of a name that is in use; file systems allow 255, and a run's files need up to 50 more


def choose_run_name(
    wanted: str | None,
    prefix: str,
    models_dir: Path,
    logs_dir: Path,
    may_exist: bool,
    taken: Collection[str] = (),
) -> str:
    """Return the name of a run.

    Args:
        wanted: Name that the user asked for; None is the next free ``<prefix>_<number>``.
        prefix: Prefix of automatic names.
        models_dir, logs_dir: Folders of models and of logs.
        may_exist: Whether the name may be in use.
        taken: Automatic names that other processes hold.

    Raises:
        ModelError: The name is in use, or cannot be part of a file name.
    """
    if wanted is None:
        numbers = itertools.count(1)
        free = (name for name in (f"{prefix}_{n}" for n in numbers) if not is_used(name, models_dir, logs_dir))
        return next(name for name in free if name not in taken)
    ends_as_files_do = PERIODIC.fullmatch(wanted) or TAGGED.fullmatch(wanted)
    size = len(wanted.encode())
    is_old = may_exist and size <= MAX_OLD_NAME and is_used(wanted, models_dir, logs_dir)
    limit = MAX_OLD_NAME if is_old else MAX_NAME
    if not re.fullmatch(r"\w[\w.-]*", wanted) or size > limit or ends_as_files_do:
        raise ModelError(
            f"a run's name may hold up to {MAX_NAME} letters, digits, '_', '-' and '.', begins with one of the first "
            f"three, and does not end in _final, _interrupted, _best or _<number>_steps, got {wanted[:120]!r}"
        )
    if re.search("_(vecnormalize|replay_buffer)(_|$)", wanted):
        raise ModelError(f"a run's name cannot hold _vecnormalize or _replay_buffer, as its files do, got {wanted!r}")
    folder = logs_dir / wanted
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ModelError(f"{folder} is no folder of its own; choose another --run-name, or put it elsewhere")
    if not may_exist and is_used(wanted, models_dir, logs_dir):
        raise ModelError(
            f"there are files of a run {wanted!r} already; choose another --run-name, go on with --resume, "
            "or replace them with --overwrite"
        )
    return wanted


def check_run_folder(run: str, logs_dir: Path) -> Path:
    """Return the folder of a run's logs.

    Raises:
        RunError: There is no such folder.
    """
    folder = logs_dir / run
    if not run or not folder.is_dir():
        runs = sorted(path.name for path in logs_dir.glob("*") if path.is_dir())
        more = f" and {len(runs) - 8:,} more" if len(runs) > 8 else ""
        there = f"there are: {', '.join(runs[:8])}{more}" if runs else "python -m training.train_ppo makes one"
        if run_of(Path(run)) in runs:
            there = f"that is the name of a model of the run {run_of(Path(run))}"
        raise RunError(f"no run {run!r} in {logs_dir}; {there}")
    return folder


def record_path(log_dir: Path, first_step: int) -> Path:
    """Return where the record of a stretch of a run is, by the step counter at which the stretch began."""
    return log_dir / (RECORD_NAME if first_step == 0 else f"config_from_{first_step}_steps.json")


def records_of(log_dir: Path) -> list[Path]:
    """Return the records of a run's stretches that are there, in the order in which the stretches began."""
    first = log_dir / RECORD_NAME
    return [*([first] if first.is_file() else []), *_resumed(log_dir).values()]


def last_record(log_dir: Path, steps: int) -> Path:
    """Return the record of the last stretch of a run that began at or before a step counter."""
    return record_path(log_dir, max((begin for begin in _resumed(log_dir) if begin <= steps), default=0))


def records(log_dir: Path) -> list[Path]:
    """Return the records of all stretches of a run, from its begin on."""
    return [record_path(log_dir, 0), *_resumed(log_dir).values()]


def later_records(log_dir: Path, steps: int) -> list[Path]:
    """Return the records of the stretches of a run that began at or after a step counter."""
    return [path for begin, path in _resumed(log_dir).items() if begin >= steps]


def _resumed(log_dir: Path) -> dict[int, Path]:
    """Return the records of the stretches that began with a resume, by the step counter of each, in that order."""
    names = {path: _STRETCH.fullmatch(path.name) for path in log_dir.glob("config_from_*_steps.json")}
    return dict(sorted((int(name["steps"]), path) for path, name in names.items() if name is not None))


def is_used(run: str, models_dir: Path, logs_dir: Path) -> bool:
    """Return whether there are models or logs of a run of that name."""
    return (logs_dir / run).exists() or bool(models_of(models_dir, run))


@contextlib.contextmanager
def hold_run(run: str, models_dir: Path, logs_dir: Path) -> Iterator[None]:
    """Keep all other processes from training a run of that name; the system releases it if this process is killed.

    Raises:
        ModelError: Another process holds the name.
        OSError: A folder cannot be made or written to.
    """
    with contextlib.ExitStack() as stack:
        for folder in (models_dir, logs_dir):
            folder.mkdir(parents=True, exist_ok=True)
        # However they are spelt, one folder has one lock: waiting for the own one would have no end.
        for folder in (models_dir,) if models_dir.samefile(logs_dir) else (models_dir, logs_dir):
            with naming(folder), tempfile.TemporaryFile(dir=folder):
                pass
            stack.enter_context(_lock(folder / f".{run}.lock", run))
        yield


@contextlib.contextmanager
def _lock(path: Path, run: str) -> Iterator[None]:
    lock = FileLock(without_link(path))
    try:
        with warnings.catch_warnings(record=True) as told:  # of a lock that is only a file, where the system has none
            warnings.simplefilter("always")
            lock.acquire(timeout=0)
    except Timeout as held:
        by = str(held).partition("It is held by ")[2].partition(",")[0]
        holder, ended = (f" ({by})", ", delete that file if it has ended") if by else ("", "")
        raise ModelError(
            f"the run {run!r} is being trained by another process{holder}, which holds {path}; wait for its "
            f"end{ended}, or choose another --run-name"
        ) from held
    except (OSError, NotImplementedError) as error:
        why = first_line(error)
        note(f"{path} cannot be locked ({why}): let no other process train the run {run!r} at the same time")
        path.unlink(missing_ok=True)
        yield
        return
    if told:
        note(f"{path.parent} has no locks; the file {path} keeps other processes from training the run {run!r}")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # Windows does not delete an open file
            path.unlink()
        lock.release()


def claim_folders(run: str, models_dir: Path, logs_dir: Path, may_exist: bool) -> None:
    """Make a run's folders before any work is done, so that no other run takes its name and nothing fails at the end.

    Files that a killed run was writing are completed if possible, and deleted otherwise.

    Raises:
        ModelError: Another run has just taken the name.
        OSError: A folder cannot be made.
    """
    try:
        (logs_dir / run).mkdir(parents=True, exist_ok=may_exist)
    except FileExistsError as taken:
        raise ModelError(f"{logs_dir / run} exists; choose another --run-name") from taken
    clear_leftovers(models_dir, run)


def check_removable(run: str, models_dir: Path, logs_dir: Path, needed: Sequence[Path]) -> None:
    """Refuse to delete a run if more than its own files would go.

    Args:
        run: Name of the run.
        models_dir, logs_dir: Folders of models and of logs.
        needed: Files that must stay.

    Raises:
        ModelError: One of these files, or a folder of models, would be deleted.
    """
    folder = (logs_dir / run).resolve()
    if models_dir.resolve().is_relative_to(folder):
        raise ModelError(f"--overwrite would delete {models_dir} with all its models, which lies in {logs_dir / run}")
    doomed = {path.resolve() for path in models_of(models_dir, run)}
    for path in needed:
        if path.resolve() in doomed or path.resolve().is_relative_to(folder):
            raise ModelError(f"--overwrite would delete {path}, with which the run begins")


def remove_run(run: str, models_dir: Path, logs_dir: Path) -> None:
    """Delete all files of a run, as --overwrite asks for."""
    for path in models_of(models_dir, run):
        delete_model(path)
    if (logs_dir / run).is_dir():
        shutil.rmtree(logs_dir / run)
