"""Frames that the client reads and writes itself, compared with another library's."""

import pytest
import websocket

from racer_env.bridge.frames import client_frame, message_in
from tests.fake_peer import frame


@pytest.mark.parametrize("length", [0, 1, 125, 126, 65_535, 65_536])
def test_client_frames_are_those_of_websocket_client(length: int) -> None:
    """Byte by byte, whatever the length, with the mask that was drawn."""
    payload = bytes(index % 251 for index in range(length))
    ours = client_frame(websocket.ABNF.OPCODE_TEXT, payload)
    theirs = websocket.ABNF.create_frame(payload, websocket.ABNF.OPCODE_TEXT)
    theirs.get_mask_key = lambda count: ours[len(ours) - length - 4 : len(ours) - length]
    assert ours == theirs.format()


@pytest.mark.parametrize("length", [2, 125, 126, 65_535])
def test_message_in_one_frame_is_found(length: int) -> None:
    """With what comes behind it left alone."""
    found = message_in(memoryview(frame(b"x" * length) + b"more"))
    assert found is not None
    assert found == (1, found[2] - length, len(frame(b"x" * length)))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        frame(b"whole")[:-1],
        frame(b"x" * 200)[:3],
        b"\x01\x02{}",
        b"\x89\x02{}",
        b"\xc1\x02{}",
        frame(b"x" * 70_000),
    ],
    ids=["nothing", "incomplete", "no length", "a first part", "a ping", "compressed", "long"],
)
def test_anything_else_is_left_to_the_library(data: bytes) -> None:
    """It knows all that WebSocket has."""
    assert message_in(memoryview(data)) is None
