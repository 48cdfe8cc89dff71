"""Writing files whole, first under a temporary name and then under their own, and their digests."""

import contextlib
import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from training.console.messages import note

PATIENCE = 1.0  # seconds in which a refused renaming is tried again


def beside(path: Path) -> Path:
    """Return the temporary path that a file is written to before it takes its name."""
    return path.with_name(f".{path.stem}.partial{path.suffix}")


def move(source: Path, target: Path) -> None:
    """Rename a file, replacing ``target``. On Windows that is refused while another process reads the file.

    Raises:
        OSError: It cannot be renamed; if permission was denied, for longer than a second.
    """
    end = time.monotonic() + PATIENCE
    while True:
        try:
            source.replace(target)
        except PermissionError:
            if time.monotonic() > end:
                raise
            time.sleep(PATIENCE / 50)
        else:
            return


def without_link(path: Path) -> Path:
    """Return a path that is about to be written to, after deleting a link there: what it leads to is not the run's."""
    if path.is_symlink():
        note(f"{path} was a link to {path.readlink()}; a file of its own takes its place")
        path.unlink()
    return path


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let an error name the file that could not be written; that of a full disk names none."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path to write a file to; it takes its name once it is whole. After an error, the old file stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside(path).unlink(missing_ok=True)  # a link there would be written through
    try:
        with naming(path):
            yield beside(path)
        move(beside(path), path)
    finally:
        beside(path).unlink(missing_ok=True)


def flush_folder(folder: Path) -> None:
    """Make renames in a folder survive a power cut, if the system can."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, as a model stores it for its statistics and its replay buffer."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
