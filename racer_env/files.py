"""Opening files that a stranger may have made: regular ones only, and none larger than its kind can be."""

import os
import stat
from pathlib import Path
from typing import BinaryIO

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def open_file(path: Path, limit: int) -> BinaryIO:
    """Open a file for reading; a link to a regular file is fine.

    Args:
        path: Path of the file.
        limit: Bytes that it may have at most.

    Raises:
        OSError: The file is missing, unreadable, larger, or no regular file: a pipe or a device may never end.
    """
    kind = stat.S_IFMT(path.stat().st_mode)
    if kind != stat.S_IFREG:
        raise OSError(f"it is {_KINDS.get(kind, 'something else')}; expected a file")
    file = path.open("rb")
    size = os.fstat(file.fileno()).st_size
    if size > limit:
        file.close()
        raise OSError(f"it has {size:,} bytes; expected at most {limit:,}")
    return file


def read_file(path: Path, limit: int) -> bytes:
    """Return the content of a file; see ``open_file``.

    Raises:
        OSError: As for ``open_file``.
    """
    with open_file(path, limit) as file:
        return file.read(limit)
