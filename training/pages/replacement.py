"""A page takes its place as a whole: it is written beside, in a work folder of its own, and then renamed."""

import contextlib
import errno
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from racer_env.errors import ConfigError
from training.checkpoints.writing import move, naming
from training.console.messages import note
from training.pages.folder import check_content

_NEW, _OLD = "new", "old"  # in a work folder: the page that is written, and what it takes the place of


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
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".partial", dir=folder.parent))
    try:
        new = work / _NEW  # unlike the work folder, others may read it
        new.mkdir()
        with naming(new):
            yield new
        _put_in_place(work, folder)
    finally:
        _clear(work, folder)


def _put_in_place(work: Path, folder: Path) -> None:
    """Let the new page take the place of what is there."""
    new, old = work / _NEW, work / _OLD
    while True:
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


def _clear(work: Path, folder: Path) -> None:
    """Delete a work folder. Without a new page, the old one goes back, and what is no page of this script stays."""
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
    if old.exists():
        note(f"{old} is what was in {folder}, and stays there")
    with contextlib.suppress(OSError):
        work.rmdir()
