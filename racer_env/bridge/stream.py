"""A socket for the client: waits with one deadline, and pings that can be answered while nobody reads."""

import contextlib
import math
import selectors
import socket
import time
from typing import Any

from racer_env.bridge.frames import begins_message, message_in, without_pings
from racer_env.bridge.spin import Spin
from racer_env.errors import BridgeLostError

MAX_REPLY_BYTES = 16 * 2**20
READ_BYTES = 65_536
# A poll selector needs no descriptor of its own; Windows only has select, which takes few descriptors.
SELECTOR = getattr(selectors, "PollSelector", selectors.SelectSelector)
HOW_TO_START = "start it with `npm ci && npm start` in bridge/, or say 'auto' instead of the URL"


class Stream(socket.socket):
    """A connected socket with a read buffer; all that one wait reads shares one deadline and one size limit.

    websocket-client reads and sends in pieces and gives each piece a time-out of its own, so a peer that sends or
    takes a byte now and then would never time out.
    """

    def __init__(self, connected: socket.socket) -> None:
        super().__init__(fileno=connected.detach())
        self.setblocking(False)  # a time-out of the socket's own would cost three system calls a step
        self._buffer = memoryview(b"")
        self._deadline = math.inf
        self._budget = 0
        self._spin = Spin()
        self._readable = SELECTOR()
        self._readable.register(self.fileno(), selectors.EVENT_READ)

    def begin_wait(self, deadline: float) -> None:
        """Set the deadline for sending and reading from now on, in seconds on the clock of ``time.monotonic``."""
        self._deadline = deadline
        self._budget = MAX_REPLY_BYTES

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Return up to ``size`` bytes."""
        self._fill()
        piece, self._buffer = self._buffer[:size], self._buffer[size:]
        return bytes(piece)

    def take_message(self) -> tuple[int, bytes] | None:
        """Wait for data, and take a message that has come in one whole frame, as nearly every reply does.

        Returns:
            Opcode and payload; None leaves what has come to ``recv``.
        """
        self._fill()
        found = message_in(self._buffer)
        if found is None:
            return None
        opcode, begin, end = found
        payload, self._buffer = bytes(self._buffer[begin:end]), self._buffer[end:]
        return opcode, payload

    def send(self, data: Any, flags: int = 0) -> int:
        """Send some of the bytes and return how many."""
        while True:
            try:
                return super().send(data, flags)
            except BlockingIOError:  # the peer reads more slowly than this sends, or nothing at all
                with SELECTOR() as writable:
                    writable.register(self, selectors.EVENT_WRITE)
                    self._wait_for(writable)

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Send all of the bytes."""
        while len(data):
            data = data[self.send(data, flags) :]

    def take_ping(self) -> bytes | None:
        """Take pings and pongs out of what has arrived, without waiting; only between two messages.

        Returns:
            The last ping's payload; None if there is none.
        """
        if len(self._buffer) < READ_BYTES and self._readable.select(0):
            with contextlib.suppress(OSError):  # whoever uses the connection next sees what is wrong
                self._buffer = memoryview(bytes(self._buffer) + super().recv(READ_BYTES))
        rest, ping = without_pings(bytes(self._buffer))
        self._buffer = memoryview(rest)
        return ping

    def has_arrivals(self) -> bool:
        """Whether anything has arrived that was not read yet, also a ping or the end of the connection."""
        return bool(self._buffer) or bool(self._readable.select(0))  # a tenth of a step's time less than trying to read

    def has_message(self) -> bool:
        """Whether a message, or the beginning of one, waits to be read; only after ``take_ping``."""
        return begins_message(self._buffer)

    def _fill(self) -> None:
        """Wait until something has arrived, unless something is left."""
        if self._buffer:
            return
        if time.monotonic() > self._deadline:
            raise TimeoutError
        self._buffer = memoryview(self._poll() or self._wait())
        self._budget -= len(self._buffer)
        if self._budget < 0:
            raise ValueError(f"it does not end after {MAX_REPLY_BYTES:,} bytes")

    def _poll(self) -> bytes:
        """Ask for data repeatedly for a moment, where that is worth while; see ``Spin``."""
        limit = self._spin.begin()
        if limit == 0.0:
            return b""
        began = looked = time.perf_counter()
        data = b""
        while looked - began < limit:
            try:
                data = super().recv(READ_BYTES)
                break
            except BlockingIOError:
                looked = time.perf_counter()
        if looked > began:  # a reply that is there already, as of a second connection, saves nothing
            self._spin.end(bool(data), time.perf_counter() - began)
        return data

    def _wait(self) -> bytes:
        """Sleep until there are data."""
        while True:
            self._wait_for(self._readable)
            with contextlib.suppress(BlockingIOError):  # rarely, a system wakes a reader in vain
                return super().recv(READ_BYTES)

    def _wait_for(self, selector: selectors.BaseSelector) -> None:
        left_s = self._deadline - time.monotonic()
        if left_s <= 0 or not selector.select(left_s):
            raise TimeoutError


def open_stream(url: str, host: str, port: int, timeout_s: float) -> Stream:
    """Connect to the first of the host's addresses that answers; localhost may have two.

    Raises:
        BridgeLostError: Nobody listens there, or does not answer.
    """
    try:
        stream = Stream(socket.create_connection((host, port), timeout_s))
    except TimeoutError as error:
        raise BridgeLostError(f"no answer from {url} within {timeout_s:g} s; {HOW_TO_START}") from error
    except OSError as error:
        raise BridgeLostError(f"no bridge at {url} ({error.strerror or error}); {HOW_TO_START}") from error
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream
