"""A file that a run appends to while it trains, and without which it goes on."""

import contextlib
import errno
import io
import os
from pathlib import Path

from training.checkpoints.writing import without_link
from training.console.messages import note


class LogFile:
    """A log that only grows: each piece is written at once, all of it or nothing.

    If a piece cannot be written, because the disk is full for example, a note says so once and training goes on; later
    pieces are tried again.
    """

    def __init__(self, path: Path) -> None:
        """Open a log, new or not; a link in its place is replaced."""
        self.path = path
        self._file: io.FileIO | None = None
        self._has_failed = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = without_link(path).open("ab", buffering=0)
        except OSError as error:
            self._tell(error)

    def write(self, content: bytes) -> None:
        """Append a piece."""
        if self._file is None:
            return
        size = self._file.seek(0, os.SEEK_END)
        try:
            if self._file.write(content) != len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.truncate(size)
            self._tell(error)

    def flush(self) -> None:
        """Do nothing: every piece is written at once."""

    def close(self) -> None:
        """Close the file; safe to call twice."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
        self._file = None

    def _tell(self, error: OSError) -> None:
        if not self._has_failed:
            note(f"cannot write {self.path}: {error.strerror or error}; training goes on, and this log has gaps")
        self._has_failed = True
