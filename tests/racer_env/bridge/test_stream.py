"""The client's socket: what it sends and waits for, and by when."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from racer_env.bridge import spin
from racer_env.bridge.stream import Stream

SHORT_S = 0.1
LONG_S = 10.0
LARGE = bytes(range(256)) * 2**14  # more than a socket takes at once


@pytest.fixture
def ends() -> Iterator[tuple[Stream, socket.socket]]:
    """A stream and the socket at its other end."""
    ours, theirs = socket.socketpair()
    with Stream(ours) as stream, theirs:
        stream.begin_wait(time.monotonic() + LONG_S)
        yield stream, theirs


def test_everything_arrives_at_a_slow_reader(ends: tuple[Stream, socket.socket]) -> None:
    """Also what does not fit into the socket at once."""
    stream, theirs = ends
    arrived = bytearray()

    def read() -> None:
        while len(arrived) < len(LARGE):
            arrived.extend(theirs.recv(100_000))
            time.sleep(0.001)

    reader = threading.Thread(target=read)
    reader.start()
    stream.sendall(LARGE)
    reader.join(LONG_S)
    assert arrived == LARGE


def test_a_reader_that_does_not_read_ends_the_wait(ends: tuple[Stream, socket.socket]) -> None:
    """At the deadline, however much it has taken."""
    stream, _ = ends
    stream.begin_wait(time.monotonic() + SHORT_S)
    with pytest.raises(TimeoutError):
        stream.sendall(LARGE)


def test_silence_ends_the_wait(ends: tuple[Stream, socket.socket]) -> None:
    """At the deadline."""
    stream, _ = ends
    began = time.monotonic()
    stream.begin_wait(began + SHORT_S)
    with pytest.raises(TimeoutError):
        stream.recv(1)
    assert SHORT_S <= time.monotonic() - began < LONG_S / 2


class Noted(spin.Spin):
    """Notes the polls that count."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[bool] = []

    def begin(self) -> float:
        """Poll always."""
        return SHORT_S

    def end(self, found: bool, took_s: float) -> None:
        """Note it."""
        self.found.append(found)


def test_only_a_poll_that_waited_counts(ends: tuple[Stream, socket.socket]) -> None:
    """Data that are there already, as of the second of two connections, would have come without one."""
    stream, theirs = ends
    stream._spin = noted = Noted()
    theirs.sendall(b"at once")
    assert stream.recv(100) == b"at once"
    assert noted.found == []
    threading.Timer(SHORT_S / 4, theirs.sendall, [b"soon"]).start()
    assert stream.recv(100) == b"soon"
    threading.Timer(2 * SHORT_S, theirs.sendall, [b"late"]).start()
    assert stream.recv(100) == b"late"
    assert noted.found == [True, False]
