"""WebSocket frames, as far as the client looks into them itself."""

import os
import struct

from racer_env.bridge.checks import one_line

TEXT, BINARY = 0x81, 0x82  # first byte of an unfragmented frame without extensions
PING, PONG = 0x89, 0x8A  # likewise
OPCODE_BITS = 0x0F  # mask of the opcode in a frame's first byte
CLOSE = 0x8  # the first opcode that holds no data of a message
MAX_CONTROL_BYTES = 125  # of a ping's payload; larger lengths and masks need more bytes of a header
LENGTH_BYTES = {126: 2, 127: 8}  # by what the second byte says
MAX_REASON = 200  # characters
MAX_REQUEST_BYTES = 65_536

# What a game means with a code. RFC 6455 defines them.
CLOSE_CODES = {
    1000: "it is done",
    1001: "it ends",
    1002: "it saw a frame that WebSocket forbids",
    1003: "it does not take this kind of data",
    1007: "it saw text that is not UTF-8",
    1008: "it refuses to go on, for example because its replies were not read",
    1009: f"a message was too large for it; it must take {MAX_REQUEST_BYTES:,} bytes (bridge/PROTOCOL.md)",
    1011: "it failed",
    1012: "it restarts",
    1013: "it is overloaded",
}


def close_reason(data: bytes) -> str:
    """Return the code and reason of a close frame in words."""
    if len(data) < 2:
        return "no code"
    code = int.from_bytes(data[:2], "big")
    reason = one_line(data[2:].decode(errors="replace"), MAX_REASON)
    meaning = f", which means that {CLOSE_CODES[code]}" if code in CLOSE_CODES else ""
    return f"code {code}{meaning}{f' ({reason})' if reason else ''}"


def message_in(data: memoryview) -> tuple[int, int, int] | None:
    """Find a message that is a single whole frame of less than 64 KiB at the front of what has arrived.

    Returns:
        Opcode, and where the payload begins and ends; None where anything else comes first.
    """
    if len(data) < 4 or data[0] not in (TEXT, BINARY):
        return None
    length, begin = data[1], 2
    if length == 126:
        length, begin = data[2] << 8 | data[3], 4
    elif length > MAX_CONTROL_BYTES:
        return None
    end = begin + length
    return (data[0] & OPCODE_BITS, begin, end) if end <= len(data) else None


def client_frame(opcode: int, payload: bytes) -> bytes:
    """Return a client's frame, which is masked with random bytes (RFC 6455)."""
    length, mask = len(payload), os.urandom(4)
    if length <= MAX_CONTROL_BYTES:
        head = bytes((0x80 | opcode, 0x80 | length))
    elif length < 2**16:
        head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, length)
    else:
        head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, length)
    # As whole numbers, all bytes are masked in one operation.
    masks = int.from_bytes((mask * (length // 4 + 1))[:length], "big")
    return head + mask + (int.from_bytes(payload, "big") ^ masks).to_bytes(length, "big")


def without_pings(data: bytes) -> tuple[bytes, bytes | None]:
    """Take pings and pongs out of what has arrived.

    Args:
        data: Bytes from the beginning of a frame on; the last frame may be incomplete.

    Returns:
        The other frames, and the payload of the last ping, which answers for all before it (RFC 6455); None if there
        is none.
    """
    kept: list[bytes] = []
    ping = None
    first = 0
    while (end := _frame_end(data, first)) is not None:
        if data[first] == PING and data[first + 1] <= MAX_CONTROL_BYTES:
            ping = data[first + 2 : end]
        elif data[first] != PONG:
            kept.append(data[first:end])
        first = end
    return b"".join([*kept, data[first:]]), ping


def begins_message(data: bytes | memoryview) -> bool:
    """Whether data or text comes next, and no ping or goodbye, which may come at any time."""
    return bool(data) and data[0] & OPCODE_BITS < CLOSE


def _frame_end(data: bytes, first: int) -> int | None:
    """Return where a server's frame ends; None if it has not come as a whole."""
    if len(data) < first + 2:
        return None
    length, start = data[first + 1], first + 2
    if length in LENGTH_BYTES:
        start += LENGTH_BYTES[length]
        length = int.from_bytes(data[first + 2 : start], "big")
    elif length > MAX_CONTROL_BYTES:
        return None  # masked, as only a client's frames should be; left to who reads the message
    return start + length if start + length <= len(data) else None
