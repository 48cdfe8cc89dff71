"""Ctrl-C and termination signals: one exception, raised when nothing is being written."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

ONE_GESTURE_S = 0.3  # seconds in which signals count as one
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # each of the last two exists on some systems only


class Interrupted(KeyboardInterrupt):
    """A signal asked the script to end.

    Attributes:
        exit_code: 128 plus the signal's number, as in shells: 130 for Ctrl-C, 143 for SIGTERM.
    """

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal.Signals(signal_number).name)
        self.exit_code = 128 + signal_number


MAX_CAUSES = 10  # of an exception that are looked at for an interruption


def interruption_behind(error: BaseException) -> KeyboardInterrupt | None:
    """Return the interruption that an exception is, or a SystemError comes from; None is neither.

    Compiled code, Numba's for one, may return after a Ctrl-C as if nothing had been; Python makes a SystemError of it.
    """
    cause: BaseException | None = error
    for _ in range(MAX_CAUSES):  # a chain of causes may be a loop
        if not isinstance(cause, SystemError):
            break
        cause = cause.__cause__
    return cause if isinstance(cause, KeyboardInterrupt) else None


class Interruption:
    """While it is entered, the first signal raises ``Interrupted`` and a second one ends the process at once.

    Signals within ONE_GESTURE_S of the first count as the first: programs such as timeout signal a process and then
    its group. A signal that arrives while files are written (``shield``) is held back until they are complete. Signals
    that the process ignores, as under nohup, stay ignored; outside the main thread this does nothing.
    """

    _active: "Interruption | None" = None

    def __init__(self) -> None:
        self._received: int | None = None
        self._received_at = 0.0
        self._is_due = False
        self._shields = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interruption":
        if threading.current_thread() is threading.main_thread():
            for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._handle)
            Interruption._active = self
        return self

    def __exit__(self, *details: object) -> None:
        if Interruption._active is self:
            Interruption._active = None
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._received is not None and time.monotonic() - self._received_at < ONE_GESTURE_S:
            return
        if self._received is not None:  # files are written under temporary names and renamed, so all are whole
            with contextlib.suppress(OSError):  # nobody may read it
                os.write(2, b"\nended at once; what was saved before is whole\n")
            os._exit(128 + number)
        self._received, self._received_at = number, time.monotonic()
        if self._shields:
            self._is_due = True
        else:
            raise Interrupted(number)

    @classmethod
    @contextlib.contextmanager
    def shield(cls) -> Iterator[None]:
        """Hold back a first signal while something is written."""
        active = cls._active
        if active is None or threading.current_thread() is not threading.main_thread():
            yield
            return
        active._shields += 1
        try:
            yield
        finally:
            active._shields -= 1
            if active._is_due and not active._shields and active._received is not None:
                active._is_due = False
                raise Interrupted(active._received)
