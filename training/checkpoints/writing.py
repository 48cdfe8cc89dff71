"""Writing files whole, first under a temporary name and then under their own, and their digests."""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path


def beside(path: Path) -> Path:
    """Return the temporary path that a file is written to before it takes its name."""
    return path.with_name(f".{path.stem}.partial{path.suffix}")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path to write a file to; it takes its name once it is whole. After an error, the old file stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield beside(path)
        beside(path).replace(path)
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
