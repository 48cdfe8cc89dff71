"""Branches of a run: what is left behind when it goes on from an earlier model becomes a run of its own.

Nothing is lost by a kill, whenever it comes. A branch first gets a copy of the run's logs, under a temporary name and
then under its own; then the models move one by one; only then are the run's own logs cut. Until all is done, a mark
lies in the branch's logs, and the next resume of the run goes on there.
"""

import contextlib
import itertools
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from racer_env.errors import ModelError
from training.checkpoints.data import ModelData
from training.checkpoints.files import BEST, model_path, readable_models, run_of, save_order
from training.checkpoints.keeping import copy_unit
from training.checkpoints.pruning import delete_model
from training.checkpoints.writing import digest_of, flush_folder, move
from training.console.messages import note
from training.runs.folders import hold_run, is_used
from training.runs.history import cut_episodes, cut_history

UNFINISHED = ".unfinished"  # the mark


def keep_later(resumed: ModelData, logs_dir: Path) -> None:
    """Set aside what a run has saved and logged since the model it is resumed from.

    The best model is copied and also stays. Where no model was saved since, as after a kill, only the episodes that
    are going to be driven again leave the run's monitor file.

    Args:
        resumed: The model.
        logs_dir: Folder of logs.

    Raises:
        ModelError: It is the best model of a branch, whose history the run has no longer; or a log cannot be copied.
        OSError: The logs cannot be copied, or a model cannot be moved.
    """
    folder, run = resumed.path.parent, run_of(resumed.path)
    _check_best(resumed, run, logs_dir)
    (logs_dir / run / UNFINISHED).unlink(missing_ok=True)  # this run is a branch that now goes on, as it is
    best = model_path(folder, run, BEST)
    later = [data.path for data in readable_models(folder, run) if save_order(data) > save_order(resumed)]
    if not _unfinished(run, logs_dir) and all(path == best for path in later):
        cut_episodes(logs_dir / run, resumed)
        return
    with _branch(run, folder, logs_dir) as other:
        for path in later:
            _set_aside(path, path.with_name(other + path.name.removeprefix(run)), is_copied=path == best)
        note(f"what {run!r} has saved since {resumed.path.name} is kept as the run {other!r}, with its logs")
        cut_history(logs_dir / run, resumed)


def _check_best(resumed: ModelData, run: str, logs_dir: Path) -> None:
    """Refuse a best model that was copied to a branch: the run has left what led to it."""
    best = model_path(resumed.path.parent, run, BEST)
    if resumed.path.name != best.name or _unfinished(run, logs_dir):
        return
    for other in sorted(best.parent.glob(f"{run}-*_{BEST}.zip")):
        branch = run_of(other)
        if is_branch(branch, run) and digest_of(other) == digest_of(best):
            raise ModelError(
                f"{best} was saved in what is now the run {branch!r}, which has its history; go on with it there: "
                f"--resume {other}"
            )


def set_aside(models: Sequence[Path], run: str, logs_dir: Path) -> str:
    """Make some models of a run a separate run, named after it with a number; return that name.

    Args:
        models: Paths of the models to move.
        run: Name of the run they belong to.
        logs_dir: Folder of logs, in which the new name must be free; the new run has a copy of the run's own.
    """
    with _branch(run, models[0].parent, logs_dir) as other:
        for path in models:
            _set_aside(path, path.with_name(other + path.name.removeprefix(run)), is_copied=False)
    return other


@contextlib.contextmanager
def _branch(run: str, folder: Path, logs_dir: Path) -> Iterator[str]:
    """Hold the name of a branch with a copy of the run's logs while models move there; see the module."""
    with contextlib.ExitStack() as stack:
        begun = _unfinished(run, logs_dir)
        for other in itertools.chain(begun, (f"{run}-{number}" for number in itertools.count(1))):
            if other not in begun and is_used(other, folder, logs_dir):
                continue
            try:
                stack.enter_context(hold_run(other, folder, logs_dir))
            except ModelError:  # another run of that name is just beginning
                continue
            break
        if other not in begun:
            _copy_logs(logs_dir / run, logs_dir / other)
        yield other
        (logs_dir / other / UNFINISHED).unlink(missing_ok=True)


def _unfinished(run: str, logs_dir: Path) -> list[str]:
    """Return the names of the branches of a run that a kill has left unfinished."""
    marked = (path.parent.name for path in logs_dir.glob(f"{run}-*/{UNFINISHED}"))
    return [name for name in marked if is_branch(name, run)]


def is_branch(name: str, run: str) -> bool:
    """Return whether a name is that of a branch of a run, by its look."""
    return re.fullmatch(r"\d+", name.removeprefix(f"{run}-")) is not None


def _copy_logs(source: Path, target: Path) -> None:
    """Copy the folder of a run's logs, marked as unfinished; it takes its name once it is whole."""
    partial = target.with_name(f".{target.name}.partial")
    if partial.exists():
        shutil.rmtree(partial)
    try:
        if source.is_dir():
            _copy_folder(source, partial)
        partial.mkdir(parents=True, exist_ok=True)
        (partial / UNFINISHED).touch()
        move(partial, target)
        flush_folder(target.parent)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _copy_folder(source: Path, target: Path) -> None:
    """Copy what a user may have put there as well: links as links, and no pipes or devices.

    Raises:
        ModelError: A file cannot be copied.
    """
    try:
        shutil.copytree(source, target, symlinks=True, copy_function=_copy_file)
    except shutil.Error as error:  # what could not be copied otherwise, such as a folder that cannot be read
        path, _, why = error.args[0][0]
        raise ModelError(f"cannot copy {path} to the logs of a branch: {why}") from error


def _copy_file(source: str, target: str) -> None:
    if not Path(source).is_file():
        note(f"{source} is a pipe or a device; it is not copied")
        return
    try:
        shutil.copy2(source, target)
    except OSError as error:
        why = error.strerror or error
        raise ModelError(f"cannot copy {source} to the logs of a branch: {why}; nothing was changed") from error


def _set_aside(path: Path, kept: Path, is_copied: bool) -> None:
    copy_unit(path, kept)
    if not is_copied:
        delete_model(path)
