"""A WebSocket server on plain sockets that answers as a test says: late, wrong, or not at all."""

import base64
import hashlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from racer_env.bridge import spin
from racer_env.config import parse_config
from racer_env.simulator.simulator import Simulator
from racer_env.spaces import reset_info, step_info
from racer_env.tracks import Track
from racer_env.tracks.starts import standing_start

TEXT, BINARY, CLOSE, PONG = 1, 2, 8, 10
TEXT_LIMITS = (125, 65_535)
WEBSOCKET_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455


@dataclass(frozen=True)
class Raw:
    """Bytes for the socket as they are."""

    data: bytes


@dataclass(frozen=True)
class Close:
    """A close frame."""

    code: int
    reason: str = ""


@dataclass(frozen=True)
class Endless:
    """Bytes, and then others again and again."""

    head: bytes
    again: bytes
    pause_s: float = 0.0


class Drop:
    """The connection is cut."""


# What to do about a request: an object to send as JSON, text or bytes to send, one of the above, or None for silence.
Answer = Callable[[dict[str, Any]], Any]


class FakePeer:
    """A server on a free port of the loopback; a context manager.

    Attributes:
        url: Where it listens.
        requests: Everything that came, parsed.
        pongs: The payloads of the answers to pings.
        connections: How many connections have been accepted.
        open_connections: How many are open.
    """

    def __init__(self, make_answer: Callable[[], Answer], host: str = "127.0.0.1", handshake: Any = None) -> None:
        """Listen.

        Args:
            make_answer: Called for each connection; what it returns answers the requests.
            host: 127.0.0.1 or ::1.
            handshake: What to send instead of a proper one, as an answer.
        """
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, 0), family=family)
        self.port = self._listener.getsockname()[1]
        self.url = f"ws://{'[::1]' if ':' in host else host}:{self.port}"
        self.requests: list[dict[str, Any]] = []
        self.pongs: list[bytes] = []
        self.connections = 0
        self.open_connections = 0
        self._make_answer = make_answer
        self._handshake = handshake
        self._sockets: list[socket.socket] = []
        self._is_closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> "FakePeer":
        # It lives in the client's process, where a client that asks without a pause would keep it from answering.
        self._poll_s, spin.POLL_S = spin.POLL_S, 0.0
        return self

    def __exit__(self, *details: object) -> None:
        spin.POLL_S = self._poll_s
        self._is_closed = True
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.drop_all()

    def drop_all(self) -> None:
        """Cut every connection."""
        for connection in self._sockets:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                connection.settimeout(10)
                self._sockets.append(connection)
                self.connections += 1
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        self.open_connections += 1
        with connection, suppress(OSError, ConnectionError):
            self._shake_hands(connection)
            answer = self._make_answer()
            while (request := self._read_request(connection)) is not None:
                message = json.loads(request)
                self.requests.append(message)
                self._send(connection, answer(message))
        self.open_connections -= 1

    def _read_request(self, connection: socket.socket) -> bytes | None:
        """Return the payload of a client's next text frame; None at the end."""
        while True:
            opcode, data = _read_frame(connection)
            if opcode != PONG:
                return None if opcode == CLOSE else data
            self.pongs.append(data)

    def _shake_hands(self, connection: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(4096)
        if self._handshake is not None:
            self._send(connection, self._handshake)
            return
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        key = fields["Sec-WebSocket-Key"]
        digest = base64.b64encode(hashlib.sha1((key + WEBSOCKET_GUID).encode()).digest()).decode()
        connection.sendall(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {digest}\r\n\r\n".encode()
        )

    def _send(self, connection: socket.socket, reply: Any) -> None:
        if isinstance(reply, list):
            for part in reply:
                self._send(connection, part)
        elif isinstance(reply, Raw):
            connection.sendall(reply.data)
        elif isinstance(reply, Close):
            connection.sendall(frame(struct.pack("!H", reply.code) + reply.reason.encode(), CLOSE))
        elif isinstance(reply, Endless):
            connection.sendall(reply.head)
            while not self._is_closed:
                connection.sendall(reply.again)
                time.sleep(reply.pause_s)
        elif isinstance(reply, Drop):
            raise ConnectionAbortedError
        elif isinstance(reply, bytes):
            connection.sendall(frame(reply, BINARY))
        elif isinstance(reply, str):
            connection.sendall(frame(reply.encode()))
        elif reply is not None:
            connection.sendall(frame(json.dumps(reply).encode()))


def frame(data: bytes, opcode: int = TEXT) -> bytes:
    """Return a server's frame."""
    if len(data) <= TEXT_LIMITS[0]:
        return bytes([0x80 | opcode, len(data)]) + data
    if len(data) <= TEXT_LIMITS[1]:
        return bytes([0x80 | opcode, 126]) + struct.pack("!H", len(data)) + data
    return bytes([0x80 | opcode, 127]) + struct.pack("!Q", len(data)) + data


def _read_frame(connection: socket.socket) -> tuple[int, bytes]:
    """Return the opcode and payload of a client's frame."""
    head = _read(connection, 2)
    if not head:
        return CLOSE, b""
    length = head[1] & 0x7F
    if length == 126:
        (length,) = struct.unpack("!H", _read(connection, 2))
    elif length == 127:
        (length,) = struct.unpack("!Q", _read(connection, 8))
    mask = _read(connection, 4)
    data = _read(connection, length)
    return head[0] & 0x0F, bytes(byte ^ mask[index % 4] for index, byte in enumerate(data))


def _read(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            return b""
        data += piece
    return data


# --- A game that speaks version 1 of the protocol and nothing else ---


def version_1_game(tracks: list[Track]) -> Callable[[], Answer]:
    """Return what makes a fake peer the game itself, as a user's own bridge is: the simulator behind version 1."""
    by_id = {track.id: track for track in tracks}

    def make_answer() -> Answer:
        simulators: dict[str, Simulator] = {}  # by track and configuration; building one takes time
        running: list[Simulator] = []

        def answer(message: dict[str, Any]) -> Any:
            if message["type"] == "reset":
                allowed = {"type", "trackId", "config"}
                track_id = message.get("trackId", "track-01")
                if set(message) > allowed or track_id not in by_id:
                    return {"type": "error", "message": "unknown key or track"}
                config, key = message.get("config", {}), json.dumps(message)
                if key not in simulators:
                    simulators[key] = Simulator([by_id[track_id]], 1, parse_config(config))
                simulator = simulators[key]
                running[:] = [simulator]
                simulator.place([0], [standing_start(by_id[track_id].geometry)])
                info = reset_info(simulator.cars[0])
                return {"type": "reset_result", "observation": simulator.observations[0].tolist(), "info": info}
            if message["type"] == "step" and running and set(message) == {"type", "action"}:
                simulator = running[0]
                simulator.step(np.array([message["action"]]))
                return {
                    "type": "step_result",
                    "observation": simulator.observations[0].tolist(),
                    "reward": float(simulator.rewards[0]),
                    "terminated": bool(simulator.terminated[0]),
                    "truncated": bool(simulator.truncated[0]),
                    "info": step_info(simulator.infos),
                }
            if message["type"] == "close":
                return {"type": "close_result"}
            return {"type": "error", "message": f"unknown type {message['type']}"}

        return answer

    return make_answer
