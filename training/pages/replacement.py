"""A page takes its place as a whole: it is written beside, in a work folder of its own, and then renamed."""

import contextlib
import errno
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock

from racer_env.errors import ConfigError
from training.checkpoints.writing import move, naming
from training.console.messages import note
from training.pages.folder import check_content

# In a work folder: the page that is written, what it takes the place of, and a lock that is held as long as the
# process lives. The lock is there first, so that a work folder without anybody to hold it is a killed script's.
_NEW, _OLD, _LOCK = "new", "old", "race_page.lock"


@contextlib.contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """Yield the folder to write a page to; it takes its name once it is whole. After an error, the old page stays.

    Of several processes that write to one folder, the last has it.

    Raises:
        ConfigError: What came into the folder while the page was written would be lost.
        OSError: The page cannot be written.
    """
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    _clear_leftovers(folder)
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".partial", dir=folder.parent))
    lock = _try_lock(work)
    try:
        new = work / _NEW  # unlike the work folder, others may read it
        new.mkdir()
        with naming(new):
            yield new
        _put_in_place(work, folder)
    finally:
        _clear(work, folder, lock)


def _clear_leftovers(folder: Path) -> None:
    """Delete the work folders that killed scripts have left beside a folder; an old page goes back."""
    name = re.compile(rf"\.{re.escape(folder.name)}\.\w{{8}}\.partial")
    for work in [path for path in folder.parent.iterdir() if name.fullmatch(path.name)]:
        if (work / _LOCK).is_file() and ((work / _NEW).is_dir() or (work / _OLD).is_dir()):
            lock = _try_lock(work)
            if lock.is_locked:
                _clear(work, folder, lock)


def _try_lock(work: Path) -> FileLock:
    """Return the lock of a work folder; it is held, unless another process has it or the file system has no locks."""
    lock = FileLock(work / _LOCK)
    with contextlib.suppress(OSError, NotImplementedError):
        lock.acquire(timeout=0)
    return lock


def _put_in_place(work: Path, folder: Path) -> None:
    """Let the new page take the place of what is there."""
    new, old = work / _NEW, work / _OLD
    while True:
        new.stat()  # an error, if somebody has deleted it
        with contextlib.suppress(FileNotFoundError):  # nothing is there
            move(folder, old)
        if old.exists():
            check_content(old, folder)  # once nobody else can change it
        try:
            move(new, folder)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) and not folder.exists():
                raise
            shutil.rmtree(old, ignore_errors=True)  # another process has put its page there: it is old, too
        else:
            return


def _clear(work: Path, folder: Path, lock: FileLock) -> None:
    """Delete a work folder. If no page has taken its place, the old one goes back; whatever else is there stays."""
    new, old = work / _NEW, work / _OLD
    is_replaced = not new.exists()
    if old.exists() and not is_replaced:
        try:
            move(old, folder)
        except OSError:
            is_replaced = folder.exists()  # another process has put its page there
    shutil.rmtree(new, ignore_errors=True)
    if old.exists() and is_replaced:
        with contextlib.suppress(ConfigError):
            check_content(old, folder)
            shutil.rmtree(old, ignore_errors=True)
    lock.release()  # Windows deletes no file that is held
    with contextlib.suppress(OSError):
        if old.exists():
            note(f"{old} is what was in {folder}, and stays there")
        else:
            (work / _LOCK).unlink(missing_ok=True)
            work.rmdir()
