"""A connection to a bridge: one request, one reply, and a deadline on every wait."""

import contextlib
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy.typing as npt
import websocket

from racer_env.bridge import heartbeat
from racer_env.bridge.checks import one_line
from racer_env.bridge.frames import client_frame, close_reason
from racer_env.bridge.messages import (
    FloatArray,
    StepResult,
    StepResults,
    close_request,
    hello_request,
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
from racer_env.bridge.step_counts import StepCounts
from racer_env.bridge.stream import open_stream
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
PONG_TIMEOUT_S = 0.01  # there is room for it unless the peer reads nothing
MAX_ERROR = 200  # characters of another library's message
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
        self._is_amid_message = False
        self._step_counts = StepCounts()
        self._lock = threading.RLock()  # for the stream and the socket, which the heartbeat uses too
        self._stream = open_stream(url, host, port, connect_timeout_s)
        with contextlib.ExitStack() as stack:
            stack.callback(self._stream.close)
            self._socket = self._shake_hands(connect_timeout_s)
            stack.pop_all()  # a connection that works stays open
        heartbeat.watch(self)

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
        self._step_counts.begin()
        return self._read("reset_result", parse_reset)

    def send_step(self, action: npt.ArrayLike) -> None:
        """Send the request of ``step``."""
        self._send(step_request(action))

    def receive_step(self) -> StepResult:
        """Wait for the reply to ``send_step``."""
        return self._read("step_result", lambda message: self._step_counts.checked(parse_step(message)))

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
        self._step_counts.begin()
        return self._read("reset_result", lambda message: parse_reset_many(message, count))

    def send_step_many(self, actions: FloatArray, next_starts: Mapping[int, Placement | None]) -> None:
        """Send a step of many cars with finite actions (N, 3); needs version 2."""
        self._send(step_many_request(actions, next_starts), opcode=websocket.ABNF.OPCODE_BINARY)

    def receive_step_many(self, count: int) -> StepResults:
        """Wait for the reply to ``send_step_many``."""
        return self._read(
            "step_result", lambda data: self._step_counts.checked_many(parse_step_many(data, count)), is_binary=True
        )

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
        self._hang_up()

    def answer_pings(self) -> None:
        """Answer the pings that have arrived; see ``Pinged``."""
        if not self._lock.acquire(blocking=False):
            return  # who reads or sends at the moment answers them
        try:
            if not (self._is_closed or self.is_lost or self._is_amid_message):
                with contextlib.suppress(BridgeLostError):  # the next request raises it
                    self._take_pings()
        finally:
            self._lock.release()

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
        with self._lock:
            if self._stream.has_arrivals():
                self._take_pings()
                if self._stream.has_message():
                    self._lose("it sent a message that was not asked for")
                    raise BridgeProtocolError(
                        f"{self.url} sent a message that was not asked for; one reply per request is right"
                    )
            self._unread += 1
            self._deadline = time.monotonic() + (self._reply_timeout_s if timeout_s is None else timeout_s)
            self._stream.begin_wait(self._deadline)
            try:
                self._stream.sendall(client_frame(opcode, message))
            except (websocket.WebSocketException, OSError) as error:
                raise self._lose(f"sending failed, {_line(error)}") from error

    def _take_pings(self) -> None:
        """Answer the pings that have arrived; a peer that takes no answer within a moment is lost."""
        ping = self._stream.take_ping()
        if ping is not None:
            self._stream.begin_wait(time.monotonic() + PONG_TIMEOUT_S)
            try:
                self._socket.pong(ping)
            except (websocket.WebSocketException, OSError) as error:
                raise self._lose(f"it does not take the answer to its ping, {_line(error)}") from error

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
            raise BridgeProtocolError(f"{self.url}: {error} (see bridge/PROTOCOL.md)") from error

    def _receive(self, expected: str) -> tuple[int, bytes]:
        """Wait for a message and return its opcode and payload."""
        try:
            with self._lock:
                self._stream.begin_wait(self._deadline)
                self._is_amid_message = True
                opcode, data = self._stream.take_message() or self._socket.recv_data()
                self._is_amid_message = False
        except (websocket.WebSocketTimeoutException, TimeoutError) as error:
            raise self._lose(f"no {expected} within {self._reply_timeout_s:g} s; it hangs or is overloaded") from error
        except (websocket.WebSocketConnectionClosedException, ConnectionError) as error:
            raise self._lose("it has gone without a goodbye; it has crashed or was ended") from error
        except (websocket.WebSocketException, OSError, ValueError) as error:
            raise BridgeProtocolError(f"expected a {expected}, got no WebSocket frame: {_line(error)}") from error
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            raise self._lose(f"it has closed the connection with {close_reason(data)}")
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
        self._hang_up()
        return BridgeLostError(self._lost)

    def _hang_up(self) -> None:
        heartbeat.forget(self)
        with self._lock:
            self._socket.shutdown()  # type: ignore[no-untyped-call]


def _line(error: Exception) -> str:
    return one_line(str(error), MAX_ERROR) or type(error).__name__
