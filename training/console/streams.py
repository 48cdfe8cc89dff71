"""Standard output and standard error that end nothing: closed ones, readers that go, characters they do not have."""

import errno
import io
import os
import sys
from typing import Any

# What writing to a pipe or a terminal without a reader raises, on Windows too.
_NOBODY_READS = {errno.EPIPE, errno.EIO, errno.EBADF, errno.EINVAL}


def prepare_streams() -> None:
    """Let a script go on, and end with its own exit code, when nobody reads what it prints; safe to call twice.

    A character that the stream's encoding lacks is shown as an escape sequence.
    """
    if sys.stdout is None or sys.stderr is None:
        _occupy_closed_descriptors()
    sys.stdout, sys.stderr = _lasting(sys.stdout), _lasting(sys.stderr)


def _occupy_closed_descriptors() -> None:
    """Keep the numbers of the standard streams from the files that are opened next, into which messages would go."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number


def _lasting(stream: Any) -> Any:
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 (for as long as the process runs)
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    # Only the interpreter's own streams, and no console of Windows. With PYTHONUNBUFFERED there is no buffer between.
    buffer = getattr(stream, "buffer", None)
    if type(stream) is not io.TextIOWrapper or type(getattr(buffer, "raw", buffer)) is not io.FileIO:
        return stream
    stream.flush()
    raw = _Unread(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(
        raw if isinstance(buffer, io.FileIO) else io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors="backslashreplace",
        newline=None if sys.platform == "win32" else "\n",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


class _Unread(io.FileIO):
    """A stream that drops what nobody reads."""

    def write(self, data: Any) -> int:
        """Write bytes, and return how many of them need not be written again."""
        try:
            return super().write(data)
        except OSError as error:
            if error.errno not in _NOBODY_READS:
                raise
            return len(memoryview(data).cast("B"))
