"""A connection to a bridge: one request, one reply, and a deadline on every wait."""

import contextlib
import math
import os
import selectors
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy.typing as npt
import websocket

from racer_env.bridge.messages import (
    FloatArray,
    StepResult,
    StepResults,
    close_request,
    hello_request,
    one_line,
    parse_hello,
    parse_reply,
    parse_reset,
    parse_reset_many,
    parse_step,
    parse_step_many,
    parse_track,
    reset_many_request,
    reset_request,
    step_many_request,
    step_request,
    track_request,
)
from racer_env.bridge.peer import Peer
from racer_env.bridge.url import DEFAULT_URL, parse_url
from racer_env.config import AiConfig
from racer_env.contract import Placement
from racer_env.errors import (
    BridgeError,
    BridgeLostError,
    BridgeProtocolError,
    BridgeRefusedError,
    ClosedError,
)

CONNECT_TIMEOUT_S = 10.0
REPLY_TIMEOUT_S = 30.0
CLOSE_TIMEOUT_S = 1.0
MAX_REPLY_BYTES = 16 * 2**20
READ_BYTES = 65_536
POLL_S = 1e-3 if (os.cpu_count() or 1) > 1 else 0.0  # with a single processor, polling would only delay the bridge
MIN_TIMEOUT_S = 1e-3  # 0 would mean no waiting at all
# A poll selector needs no descriptor of its own; Windows only has select, which takes few descriptors.
SELECTOR = getattr(selectors, "PollSelector", selectors.SelectSelector)
OPCODE_BITS = 0x0F  # mask of the opcode in a frame's first byte
MAX_ERROR = 200  # characters of another library's message
HOW_TO_START = "start it with `npm ci && npm start` in bridge/, or say 'auto' instead of the URL"
ANSWER_ANYTHING = "a game must answer what it does not know, hello first of all, with an error (bridge/PROTOCOL.md)"

Result = TypeVar("Result")


class BridgeClient:
    """A synchronous connection to a bridge on this machine.

    ``send_...`` and ``receive_...`` come in pairs, so that requests can go out on several connections before the
    first reply is read; ``reset``, ``step`` and so on do both. After a ``BridgeRefusedError`` the connection is still
    usable; after any other ``BridgeError`` it is gone, and every later call fails at once with the reason.

    Attributes:
        url: URL of the bridge, ``ws://HOST:PORT``.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        reply_timeout_s: float = REPLY_TIMEOUT_S,
    ) -> None:
        """Connect to the bridge.

        Args:
            url: ``ws://HOST:PORT`` on this machine.
            connect_timeout_s: Deadline for connection and handshake together, in seconds.
            reply_timeout_s: Deadline for each reply, in seconds.

        Raises:
            ConfigError: The URL is invalid, or names another machine.
            BridgeLostError: There is no bridge, or it does not answer.
            BridgeProtocolError: The peer is not a bridge.
        """
        host, port = parse_url(url)
        self.url = url
        self._reply_timeout_s = reply_timeout_s
        self._unread = 0  # replies still outstanding
        self._deadline = math.inf
        self._lost: str | None = None
        self._is_closed = False
        self._said_goodbye = False
        self._stream = _connect(url, host, port, connect_timeout_s)
        with contextlib.ExitStack() as stack:
            stack.callback(self._stream.close)
            self._socket = self._shake_hands(connect_timeout_s)
            stack.pop_all()  # a connection that works stays open

    @property
    def is_lost(self) -> bool:
        """Whether the connection is gone."""
        return self._lost is not None

    def __enter__(self) -> "BridgeClient":
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    # --- Requests with their replies ---

    def hello(self) -> Peer:
        """Ask the bridge what it speaks; a refusal means version 1."""
        self._send(hello_request())
        try:
            return self._read("hello_result", parse_hello)
        except BridgeRefusedError:
            return Peer()
        except BridgeLostError as error:
            raise BridgeLostError(f"{error}; {ANSWER_ANYTHING}") from error

    def track(self, track_id: str) -> Any:
        """Return the document that describes a track, unchecked; needs version 2."""
        self._send(track_request(track_id))
        return self._read("track_result", parse_track)

    def reset(
        self, track_id: str | None = None, config: AiConfig | None = None, start: Placement | None = None
    ) -> tuple[FloatArray, dict[str, Any]]:
        """Begin an episode.

        Args:
            track_id: Id of the track; None is the bridge's default.
            config: Reward weights and episode limits; None is the bridge's default.
            start: Where the car starts; None is the standing start, any other needs version 2.

        Returns:
            Observation (14,) float64 and info.
        """
        self.send_reset(track_id, config, start)
        return self.receive_reset()

    def step(self, action: npt.ArrayLike) -> StepResult:
        """Advance by one tick.

        Args:
            action: (3,) steer in [-1, 1], throttle and brake in [0, 1].

        Raises:
            ActionError: The action is not three finite numbers; nothing was sent.
        """
        self.send_step(action)
        return self.receive_step()

    # --- Requests and replies apart ---

    def send_reset(
        self, track_id: str | None = None, config: AiConfig | None = None, start: Placement | None = None
    ) -> None:
        """Send the request of ``reset``."""
        self._send(reset_request(track_id, config, start))

    def receive_reset(self) -> tuple[FloatArray, dict[str, Any]]:
        """Wait for the reply to ``send_reset``."""
        return self._read("reset_result", parse_reset)

    def send_step(self, action: npt.ArrayLike) -> None:
        """Send the request of ``step``."""
        self._send(step_request(action))

    def receive_step(self) -> StepResult:
        """Wait for the reply to ``send_step``."""
        return self._read("step_result", parse_step)

    def send_reset_many(
        self,
        track_id: str | None,
        config: AiConfig | None,
        starts: Sequence[Placement | None],
        next_starts: Sequence[Placement | None],
    ) -> None:
        """Send a reset of many cars; needs version 2."""
        self._send(reset_many_request(track_id, config, starts, next_starts))

    def receive_reset_many(self, count: int) -> tuple[FloatArray, list[dict[str, Any]]]:
        """Wait for the reply to ``send_reset_many``: observations (N, 14) float64 and infos."""
        return self._read("reset_result", lambda message: parse_reset_many(message, count))

    def send_step_many(self, actions: FloatArray, next_starts: Mapping[int, Placement | None]) -> None:
        """Send a step of many cars with finite actions (N, 3); needs version 2."""
        self._send(step_many_request(actions, next_starts), opcode=websocket.ABNF.OPCODE_BINARY)

    def receive_step_many(self, count: int) -> StepResults:
        """Wait for the reply to ``send_step_many``."""
        return self._read("step_result", lambda data: parse_step_many(data, count), is_binary=True)

    def say_goodbye(self) -> None:
        """Send a goodbye without waiting for the answer."""
        if self._is_closed or self._lost is not None or self._unread:
            return
        with contextlib.suppress(BridgeError):
            self._send(close_request(), CLOSE_TIMEOUT_S)
            self._said_goodbye = True

    def close(self) -> None:
        """Say goodbye and disconnect; safe to call twice, or after the bridge has gone."""
        self.say_goodbye()
        if self._said_goodbye and not self._is_closed:
            # The connection is closed whether or not the goodbye arrives.
            with contextlib.suppress(BridgeError, OSError, websocket.WebSocketException):
                self._read("close_result", dict)
                self._socket.send_close()
        self._is_closed = True
        self._socket.shutdown()  # type: ignore[no-untyped-call]

    # --- The wire ---

    def _shake_hands(self, timeout_s: float) -> websocket.WebSocket:
        self._stream.begin_wait(time.monotonic() + timeout_s)
        try:
            return websocket.create_connection(
                self.url,
                timeout=timeout_s,
                socket=self._stream,
                skip_utf8_validation=True,
                suppress_origin=True,
                redirect_limit=0,  # it might lead off this machine
            )
        except (websocket.WebSocketTimeoutException, TimeoutError) as error:
            raise BridgeLostError(
                f"{self.url} accepts connections, but did not answer the handshake within {timeout_s:g} s"
            ) from error
        except (websocket.WebSocketException, OSError, ValueError) as error:
            raise BridgeProtocolError(f"what listens at {self.url} is no bridge: {_line(error)}") from error

    def _send(self, message: bytes, timeout_s: float | None = None, opcode: int = websocket.ABNF.OPCODE_TEXT) -> None:
        self._check_usable()
        if self._unread:
            raise self._lose("an earlier reply was never read, so replies would not match requests any more")
        if self._stream.has_unread_message():
            self._lose("it sent a message that was not asked for")
            raise BridgeProtocolError(
                f"{self.url} sent a message that was not asked for; one reply per request is right"
            )
        self._unread += 1
        self._deadline = time.monotonic() + (self._reply_timeout_s if timeout_s is None else timeout_s)
        self._stream.begin_wait(self._deadline)
        try:
            self._socket.send(message, opcode)
        except (websocket.WebSocketException, OSError) as error:
            raise self._lose(f"sending failed, {_line(error)}") from error

    def _read(self, expected: str, parse: Callable[[Any], Result], is_binary: bool = False) -> Result:
        """Wait for a reply and parse it; an invalid one ends the connection.

        Args:
            expected: The expected type of the reply.
            parse: Parses the payload of a binary frame, or the JSON object in a text frame.
            is_binary: Whether the reply is a binary frame; a refusal is a text frame either way.
        """
        self._check_usable()
        try:
            opcode, data = self._receive(expected)
            if is_binary and opcode == websocket.ABNF.OPCODE_BINARY:
                return parse(data)
            if opcode != websocket.ABNF.OPCODE_TEXT:
                raise BridgeProtocolError(f"expected a {expected} as text, got a binary frame of {len(data)} bytes")
            message = parse_reply(data, expected)
            if is_binary:
                raise BridgeProtocolError(f"expected a {expected} in a binary frame, got it as text")
            return parse(message)
        except BridgeRefusedError as error:
            raise BridgeRefusedError(f"{self.url} refused: {error}") from error
        except BridgeProtocolError as error:
            self._lose(f"it sent nonsense, {error}")
            raise BridgeProtocolError(f"{self.url}: {error}") from error

    def _receive(self, expected: str) -> tuple[int, bytes]:
        """Wait for a message and return its opcode and payload."""
        self._stream.begin_wait(self._deadline)
        try:
            opcode, data = self._socket.recv_data()
        except (websocket.WebSocketTimeoutException, TimeoutError) as error:
            raise self._lose(f"no {expected} within {self._reply_timeout_s:g} s; it hangs or is overloaded") from error
        except (websocket.WebSocketConnectionClosedException, ConnectionError) as error:
            raise self._lose("it has gone without a goodbye; it has crashed or was ended") from error
        except (websocket.WebSocketException, OSError, ValueError) as error:
            raise BridgeProtocolError(f"expected a {expected}, got no WebSocket frame: {_line(error)}") from error
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            raise self._lose(f"it has closed the connection with {_close_reason(data)}")
        self._unread -= 1
        return opcode, data

    def _check_usable(self) -> None:
        if self._lost is not None:
            raise BridgeLostError(self._lost)
        if self._is_closed:
            raise ClosedError(f"the connection to {self.url} is closed; make a new one")

    def _lose(self, reason: str) -> BridgeLostError:
        """Give up the connection and return the error; the caller raises it."""
        self._lost = f"lost the bridge at {self.url}: {reason}"
        self._socket.shutdown()  # type: ignore[no-untyped-call]
        return BridgeLostError(self._lost)


class _Stream(socket.socket):
    """A connected socket with a read buffer; all that one wait reads shares one deadline and one size limit.

    websocket-client reads a frame in pieces and gives each piece a time-out of its own, so a peer that sends a byte
    now and then would never time out.
    """

    def __init__(self, connected: socket.socket) -> None:
        super().__init__(fileno=connected.detach())
        self._buffer = memoryview(b"")
        self._deadline = math.inf
        self._budget = 0
        self._readable = SELECTOR()
        self._readable.register(self.fileno(), selectors.EVENT_READ)

    def begin_wait(self, deadline: float) -> None:
        """Set the deadline for sending and reading from now on, in seconds on the clock of ``time.monotonic``."""
        self._deadline = deadline
        self._budget = MAX_REPLY_BYTES
        self.settimeout(max(deadline - time.monotonic(), MIN_TIMEOUT_S))

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Return up to ``size`` bytes."""
        if not self._buffer:
            if time.monotonic() > self._deadline:
                raise TimeoutError
            self._buffer = memoryview(self._poll() or self._wait())
            self._budget -= len(self._buffer)
            if self._budget < 0:
                raise ValueError(f"it does not end after {MAX_REPLY_BYTES:,} bytes")
        piece, self._buffer = self._buffer[:size], self._buffer[size:]
        return bytes(piece)

    def has_unread_message(self) -> bool:
        """Whether unrequested data or text has arrived; pings and a goodbye may come at any time."""
        if not self._buffer and self._readable.select(0):  # saves a tenth of a step's time over trying to read
            self.settimeout(0.0)
            with contextlib.suppress(OSError):
                self._buffer = memoryview(super().recv(READ_BYTES))
        return bool(self._buffer) and self._buffer[0] & OPCODE_BITS < websocket.ABNF.OPCODE_CLOSE

    def _poll(self) -> bytes:
        """Ask for data repeatedly for a moment, as most replies arrive within it.

        This saves a fifth to a third of a step's time: an idle processor is slow to wake up.
        """
        if POLL_S == 0.0:
            return b""
        self.settimeout(0.0)
        end = time.perf_counter() + POLL_S
        while time.perf_counter() < end:
            with contextlib.suppress(BlockingIOError):
                return super().recv(READ_BYTES)
        return b""

    def _wait(self) -> bytes:
        self.settimeout(max(self._deadline - time.monotonic(), MIN_TIMEOUT_S))
        return super().recv(READ_BYTES)


def _connect(url: str, host: str, port: int, timeout_s: float) -> _Stream:
    """Connect to the first of the host's addresses that answers; localhost may have two."""
    try:
        stream = _Stream(socket.create_connection((host, port), timeout_s))
    except TimeoutError as error:
        raise BridgeLostError(f"no answer from {url} within {timeout_s:g} s; {HOW_TO_START}") from error
    except OSError as error:
        raise BridgeLostError(f"no bridge at {url} ({error.strerror or error}); {HOW_TO_START}") from error
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream


def _close_reason(data: bytes) -> str:
    """Return the code and reason of a close frame in words."""
    if len(data) < 2:
        return "no code"
    reason = one_line(data[2:].decode(errors="replace"), MAX_ERROR)
    return f"code {int.from_bytes(data[:2], 'big')}{f' ({reason})' if reason else ''}"


def _line(error: Exception) -> str:
    return one_line(str(error), MAX_ERROR) or type(error).__name__
