"""Writing files whole, beside and then under their name, and telling them apart by their digests."""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path


def beside(path: Path) -> Path:
    """Return where a file is written before it takes its name."""
    return path.with_name(f".{path.stem}.partial{path.suffix}")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield where to write a file, which takes its name once it is whole; after an error, the old one stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield beside(path)
        beside(path).replace(path)
    finally:
        beside(path).unlink(missing_ok=True)


def flush_folder(folder: Path) -> None:
    """Make renames in a folder last through a power cut, where the system can."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file: what a model remembers of its statistics and its replay buffer."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
