"""A bare WebSocket client that may send anything, and a proxy in front of a bridge that may change what it answers."""

import base64
import os
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
PATIENCE_S = 20.0  # seconds to wait for a reply; a machine with other work to do is slow
_HEAD = (
    "GET / HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


class GoneError(Exception):
    """The other end closed the connection.

    Attributes:
        code: Code of its close frame; None without one.
    """

    def __init__(self, code: int | None) -> None:
        super().__init__(f"closed with {code}")
        self.code = code


class RawClient:
    """A connection whose frames are made by hand; a context manager."""

    def __init__(self, port: int, handshake: bytes | None = None) -> None:
        """Connect to a port of this machine.

        Args:
            port: Where the bridge listens.
            handshake: What to send instead of a proper one; nothing is read then.
        """
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._unread = b""
        if handshake is not None:
            with suppress(OSError):
                self._socket.sendall(handshake)
            return
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(_HEAD.format(host=f"127.0.0.1:{port}", key=key).encode())
        while b"\r\n\r\n" not in self._unread:
            self._unread += self._receive()
        self._unread = self._unread.partition(b"\r\n\r\n")[2]

    def __enter__(self) -> "RawClient":
        return self

    def __exit__(self, *details: object) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        """Send bytes as they are; silently, if the other end has gone."""
        with suppress(OSError):
            self._socket.sendall(data)

    def send_in_time(self, data: bytes, wait_s: float) -> None:
        """Send as much of some bytes as the other end takes within a time, in seconds."""
        self._socket.settimeout(wait_s)
        self.send(data)
        self._socket.settimeout(PATIENCE_S)

    def shut(self) -> None:
        """Say that nothing more will be sent."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def ask(self, payload: bytes, opcode: int = TEXT) -> tuple[int, bytes]:
        """Send a message and return the opcode and the payload of the reply.

        Raises:
            GoneError: The bridge closed the connection.
            TimeoutError: It did not answer.
        """
        self.send(client_frame(payload, opcode))
        return self.read()

    def read(self) -> tuple[int, bytes]:
        """Return the next frame, see ``ask``."""
        try:
            head = self._take(2)
            length = head[1] & 0x7F
            if length > 125:
                length = int.from_bytes(self._take(2 if length == 126 else 8), "big")
            opcode, payload = head[0] & 0x0F, self._take(length)
        except ConnectionError as error:
            raise GoneError(None) from error
        if opcode == CLOSE:
            raise GoneError(int.from_bytes(payload[:2], "big") if payload else None)
        return opcode, payload

    def _take(self, count: int) -> bytes:
        while len(self._unread) < count:
            self._unread += self._receive()
        taken, self._unread = self._unread[:count], self._unread[count:]
        return taken

    def _receive(self) -> bytes:
        data = self._socket.recv(65_536)
        if not data:
            raise ConnectionResetError
        return data


def client_frame(
    payload: bytes, opcode: int = TEXT, *, first: int = 0x80, masked: bool = True, told: int | None = None
) -> bytes:
    """Return a client's frame.

    Args:
        payload: Its content.
        opcode: Its opcode.
        first: The other bits of the first byte: 0x80 for the last frame of a message, 0x70 are reserved.
        masked: Whether it is masked, as a client's has to be.
        told: The length that its head tells; None is the right one.
    """
    length = len(payload) if told is None else told
    mask = os.urandom(4)
    bit = 0x80 if masked else 0
    if length <= 125:
        head = bytes([first | opcode, bit | length])
    elif length <= 65_535:
        head = bytes([first | opcode, bit | 126]) + struct.pack("!H", length)
    else:
        head = bytes([first | opcode, bit | 127]) + struct.pack("!Q", length)
    if not masked:
        return head + payload
    key = int.from_bytes((mask * (len(payload) // 4 + 1))[: len(payload)], "big")
    return head + mask + (int.from_bytes(payload, "big") ^ key).to_bytes(len(payload), "big")


# Returns the bytes to send instead of a frame of the bridge: its number on the connection, its opcode and its payload.
Lie = Callable[[int, int, bytes], bytes | None]


class LyingProxy:
    """Passes a connection on to a bridge and back, with the bridge's frames changed on the way; a context manager.

    Attributes:
        url: Where it listens.
    """

    def __init__(self, port: int, make_lie: Callable[[], Lie]) -> None:
        """Listen on a free port.

        Args:
            port: Port of the bridge.
            make_lie: Called for each connection; what it returns changes the frames, and cuts the connection by None.
        """
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"ws://127.0.0.1:{self._listener.getsockname()[1]}"
        self._port = port
        self._make_lie = make_lie
        self._sockets: list[socket.socket] = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> "LyingProxy":
        return self

    def __exit__(self, *details: object) -> None:
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                bridge = socket.create_connection(("127.0.0.1", self._port))
                self._sockets += [client, bridge]
                for target, arguments in (
                    (_pass_on, (client, bridge)),
                    (_pass_back, (bridge, client, self._make_lie())),
                ):
                    threading.Thread(target=target, args=arguments, daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _pass_back(source: socket.socket, target: socket.socket, lie: Lie) -> None:
    with suppress(OSError), source.makefile("rb") as stream:
        while (line := stream.readline()) != b"":
            target.sendall(line)
            if line == b"\r\n":
                break
        number = 0
        while head := stream.read(2):
            length = head[1]
            if length > 125:
                length = int.from_bytes(stream.read(2 if length == 126 else 8), "big")
            said = lie(number, head[0] & 0x0F, stream.read(length))
            if said is None:
                break
            target.sendall(said)
            number += 1
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)
