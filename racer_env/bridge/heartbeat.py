"""Answers the pings of games on connections that nobody reads from at the moment.

A client reads only while it waits for a reply. The cars of training wait for the end of an evaluation, those of an
evaluation for the next one, and all of them while the driver learns. A game that pings would drop them meanwhile.
"""

import os
import threading
import weakref
from typing import Protocol

PAUSE_S = 0.5  # between two looks; games wait for an answer for some seconds


class Pinged(Protocol):
    """A connection that may be pinged."""

    def answer_pings(self) -> None:
        """Answer the pings that have arrived; neither waits nor raises, whatever another thread does."""


_connections: weakref.WeakSet[Pinged] = weakref.WeakSet()
_lock = threading.Lock()
_thread: threading.Thread | None = None


def watch(connection: Pinged) -> None:
    """Answer the pings on a connection from now on, for as long as it exists."""
    global _thread
    with _lock:
        _connections.add(connection)
        if _thread is None:
            _thread = threading.Thread(target=_look_after_all, name="heartbeat", daemon=True)
            _thread.start()


def forget(connection: Pinged) -> None:
    """Leave a connection alone from now on."""
    with _lock:
        _connections.discard(connection)


def _look_after_all() -> None:
    """Answer pings until there is no connection any more."""
    global _thread
    pause = threading.Event()
    while True:
        pause.wait(PAUSE_S)
        with _lock:
            if not _connections:
                _thread = None
                return
            connections = list(_connections)
        while connections:
            connections.pop().answer_pings()  # no reference stays, so that unused connections can go


def _forget_all() -> None:
    """Leave the connections of the parent process to it; its thread is not here either."""
    global _connections, _lock, _thread
    _connections, _lock, _thread = weakref.WeakSet(), threading.Lock(), None


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_forget_all)
