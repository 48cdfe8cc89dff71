"""The client against peers that are late, lie, babble, and die."""

import gc
import os
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from racer_env.bridge import client as bridge_client
from racer_env.bridge import heartbeat
from racer_env.bridge.client import BridgeClient
from racer_env.bridge.url import parse_url
from racer_env.errors import (
    ActionError,
    BridgeError,
    BridgeLostError,
    BridgeProtocolError,
    BridgeRefusedError,
    ClosedError,
    ConfigError,
)
from tests.fake_peer import Endless, FakePeer, Raw
from tests.lying_peers import LIES, Lie, counting_game, lying
from tests.racer_env.bridge.test_messages import HELLO, RESET, STEP, STEP_INFO

SHORT_S = 0.2
COAST = np.zeros(3)


def always(reply: Any) -> Callable[[], Callable[[dict[str, Any]], Any]]:
    """Return a peer that answers everything alike."""
    return lambda: lambda message: reply


def scripted(*replies: Any) -> Callable[[], Callable[[dict[str, Any]], Any]]:
    """Return a peer that answers the first request with the first reply, and so on."""

    def make_answer() -> Callable[[dict[str, Any]], Any]:
        left = iter(replies)
        return lambda message: next(left, {"type": "close_result"})

    return make_answer


def connect(peer: FakePeer) -> BridgeClient:
    """Connect with a short deadline."""
    return BridgeClient(peer.url, reply_timeout_s=SHORT_S)


def assert_lost_at_once(client: BridgeClient) -> None:
    """Every later call says why the connection is gone, without waiting."""
    began = time.monotonic()
    for call in (client.reset, lambda: client.step(COAST), client.hello):
        with pytest.raises(BridgeLostError, match="lost the bridge at ws://"):
            call()
    assert time.monotonic() - began < SHORT_S
    client.close()


# --- A peer that behaves ---


def test_round_trips() -> None:
    """Reset and step return what the peer sent, and the peer got what was asked."""
    with FakePeer(scripted(HELLO, RESET, STEP, {"type": "close_result"})) as peer, connect(peer) as client:
        assert client.hello().protocol == 2
        assert client.reset("track-01")[0].shape == (14,)
        assert client.step(COAST).reward == 0.498
        client.close()
        assert [message["type"] for message in peer.requests] == ["hello", "reset", "step", "close"]


def test_connection_has_no_delay() -> None:
    """Small messages are sent at once."""
    with FakePeer(always(STEP)) as peer, connect(peer) as client:
        assert client._stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_requests_go_out_before_replies_are_read() -> None:
    """Two connections are answered side by side."""
    barrier = threading.Barrier(2, timeout=5)

    def answer(message: dict[str, Any]) -> Any:
        if message["type"] == "step":
            barrier.wait()  # both requests must be there before either is answered
        return STEP if message["type"] == "step" else {"type": "close_result"}

    with FakePeer(lambda: answer) as peer, connect(peer) as first, connect(peer) as second:
        first.send_step(COAST)
        second.send_step(COAST)
        assert first.receive_step().reward == second.receive_step().reward


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_localhost_works_where_it_is_ipv6_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address that nobody listens at is passed over."""
    resolve = socket.getaddrinfo

    def ipv6_first(host: str, port: int, *args: Any, **kwargs: Any) -> Any:
        if host != "localhost":
            return resolve(host, port, *args, **kwargs)
        return [*resolve("::1", port, *args, **kwargs), *resolve("127.0.0.1", port, *args, **kwargs)]

    with FakePeer(always(STEP)) as peer:
        monkeypatch.setattr(socket, "getaddrinfo", ipv6_first)
        with BridgeClient(f"ws://localhost:{peer.port}") as client:
            assert client.step(COAST).reward == 0.498


def test_fragments_and_pings_are_put_together() -> None:
    """A reply may come in two frames with a ping between them."""
    text = b'{"type":"close_result"}'
    pieces = bytes([1, 5]) + text[:5] + bytes([0x89, 2]) + b"hi" + bytes([0x80, len(text) - 5]) + text[5:]
    with FakePeer(scripted(Raw(pieces), HELLO)) as peer, connect(peer) as client:
        client._send(b'{"type":"x"}')
        assert client._read("close_result", dict) == {"type": "close_result"}


def test_pause_between_steps_does_no_harm() -> None:
    """The deadline counts from a request, not from the last reply."""
    with FakePeer(counting_game) as peer, connect(peer) as client:
        client.step(COAST)
        time.sleep(2 * SHORT_S)
        assert client.step(COAST).reward == 0.498


def pong_after(peer: FakePeer) -> bytes | None:
    """Return the payload of the pong that a peer gets within some looks of the heartbeat."""
    end = time.monotonic() + 10 * SHORT_S
    while not peer.pongs and time.monotonic() < end:
        time.sleep(0.01)
    return peer.pongs[-1] if peer.pongs else None


@pytest.mark.parametrize("is_waiting", [False, True], ids=["idle", "with a reply due"])
def test_pings_are_answered_while_nobody_reads(is_waiting: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A game that pings keeps a connection that waits for an evaluation, for learning, or for another game's reply."""
    monkeypatch.setattr(heartbeat, "PAUSE_S", 0.02)
    ping = Raw(bytes([0x89, 2]) + b"hi")
    with FakePeer(scripted([STEP, ping], {**STEP, "info": {**STEP_INFO, "stepCount": 8}})) as peer:
        with connect(peer) as client:
            client.send_step(COAST)
            if not is_waiting:
                client.receive_step()
            assert pong_after(peer) == b"hi"
            if is_waiting:
                client.receive_step()
            assert client.step(COAST).info["stepCount"] == 8
        assert peer.requests[-1]["type"] == "close"


def test_a_message_behind_a_ping_is_noticed() -> None:
    """It was not asked for, and must not be taken for the next reply."""
    with FakePeer(scripted([STEP, Raw(bytes([0x89, 0])), STEP])) as peer, connect(peer) as client:
        client.step(COAST)
        time.sleep(0.05)
        with pytest.raises(BridgeProtocolError, match="a message that was not asked for"):
            client.step(COAST)


def test_the_heartbeat_ends_with_the_last_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if that is not closed but forgotten."""
    monkeypatch.setattr(heartbeat, "PAUSE_S", 0.01)
    with FakePeer(counting_game) as peer:
        connect(peer)
        gc.collect()
        end = time.monotonic() + 2
        while heartbeat._thread is not None and time.monotonic() < end:
            time.sleep(0.01)
    assert heartbeat._thread is None


# --- Version 1 ---


def test_refused_hello_is_version_1() -> None:
    """A peer that does not know hello speaks version 1, and the connection goes on."""
    with FakePeer(scripted({"type": "error", "message": "unknown type"}, RESET)) as peer, connect(peer) as client:
        hello = client.hello()
        assert (hello.protocol, hello.physics, dict(hello.tracks)) == (1, None, {})
        client.reset()


# --- Refusals ---


def test_connection_is_usable_after_a_refusal() -> None:
    """An error reply raises, and the next request works."""
    with FakePeer(scripted({"type": "error", "message": "no such track"}, RESET)) as peer, connect(peer) as client:
        with pytest.raises(BridgeRefusedError, match="refused: no such track"):
            client.reset("moon")
        assert not client.is_lost
        client.reset("track-01")


def test_nan_is_refused_before_it_is_sent() -> None:
    """The value is named, nothing goes out, and the connection is usable."""
    with FakePeer(always(STEP)) as peer, connect(peer) as client:
        with pytest.raises(ActionError, match="brake of car 0 is nan"):
            client.step([0.0, 0.0, float("nan")])
        assert peer.requests == []
        client.step(COAST)


# --- Nonsense ---


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.name)
def test_a_lying_peer_ends_the_connection_in_words(lie: Lie) -> None:
    """One line that says what came, within the deadline, and no answer of it is believed any more."""
    with FakePeer(lying(lie, counting_game)) as peer:
        client = connect(peer)
        client.reset()
        began = time.monotonic()
        with pytest.raises(BridgeError, match=lie.match) as caught:
            for _ in range(5):
                client.step(COAST)
        assert time.monotonic() - began < 10 * SHORT_S
        assert str(caught.value).isprintable()
        if not isinstance(caught.value, BridgeRefusedError):
            assert_lost_at_once(client)


def test_a_reply_has_a_largest_size() -> None:
    """Whatever length it tells."""
    endless = Endless(bytes([0x81, 127]) + struct.pack("!Q", 2**40), b" " * 2**20)
    with FakePeer(always(endless)) as peer:
        client = BridgeClient(peer.url, reply_timeout_s=5)
        with pytest.raises(BridgeProtocolError, match="does not end after 16,777,216 bytes"):
            client.step(COAST)


@pytest.mark.parametrize(
    "handshake",
    [
        b"HTTP/1.1 404 Not Found\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\xff\xfe: 1\r\n\r\n",
    ],
)
def test_another_server_is_no_bridge(handshake: bytes) -> None:
    """Something else that listens there is named as such."""
    with (
        FakePeer(always(None), handshake=Raw(handshake)) as peer,
        pytest.raises(BridgeProtocolError, match="is no bridge"),
    ):
        connect(peer)


# --- Gone ---


def test_nobody_listens() -> None:
    """The message says how to start a bridge."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(BridgeLostError, match=r"no bridge at ws://127.0.0.1:\d+ .*npm start"):
        BridgeClient(f"ws://127.0.0.1:{port}")


def test_peer_that_never_shakes_hands() -> None:
    """The deadline of connecting holds for the handshake too."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"ws://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(BridgeLostError, match=r"did not answer the handshake within 0\.2 s"):
            BridgeClient(url, connect_timeout_s=0.2)


@pytest.mark.parametrize("again", [b"", b"x", b"a: b\r\n"])
def test_handshake_without_an_end(again: bytes) -> None:
    """A peer that sends a byte or a line now and then is late all the same."""
    with FakePeer(always(None), handshake=Endless(b"HTTP/1.1 101 Welcome\r\n", again, pause_s=0.01)) as peer:
        began = time.monotonic()
        with pytest.raises(BridgeLostError, match="did not answer the handshake"):
            BridgeClient(peer.url, connect_timeout_s=0.2)
        assert time.monotonic() - began < 2


def test_message_that_was_not_asked_for() -> None:
    """A peer that answers twice is noticed at the next request, before any reply is taken for another's."""
    with FakePeer(scripted([STEP, STEP], STEP)) as peer:
        client = connect(peer)
        client.step(COAST)
        time.sleep(0.05)
        with pytest.raises(BridgeProtocolError, match="a message that was not asked for"):
            client.step(COAST)
        assert_lost_at_once(client)


def test_interrupted_wait_ends_the_connection() -> None:
    """After Ctrl-C during a wait the late reply is not taken for another request's."""
    with FakePeer(scripted(None, STEP)) as peer:
        client = BridgeClient(peer.url, reply_timeout_s=5)
        timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            client.step(COAST)
        with pytest.raises(BridgeLostError, match="an earlier reply was never read"):
            client.step(COAST)


# --- Closing ---


def test_close_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing says goodbye once; later calls say that it is closed."""
    with FakePeer(lambda: lambda message: {"type": message["type"] + "_result"}) as peer:
        client = connect(peer)
        client.close()
        client.close()
        assert [message["type"] for message in peer.requests] == ["close"]
        for call in (lambda: client.step(COAST), client.receive_step):
            with pytest.raises(ClosedError, match="is closed"):
                call()


def test_close_does_not_wait_for_a_silent_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A goodbye has a deadline of its own."""
    monkeypatch.setattr(bridge_client, "CLOSE_TIMEOUT_S", 0.1)
    with FakePeer(always(None)) as peer:
        client = BridgeClient(peer.url)
        began = time.monotonic()
        client.close()
        assert time.monotonic() - began < 1


# --- URLs ---


@pytest.mark.parametrize(
    "url", ["ws://127.0.0.1:9876", "ws://localhost:1", "ws://[::1]:80", "ws://127.9.9.9:65535/path"]
)
def test_loopback_urls(url: str) -> None:
    """Any address of the loopback will do."""
    assert parse_url(url)[1] > 0


@pytest.mark.parametrize(
    ("url", "match"),
    [
        ("http://127.0.0.1:9876", "no bridge's URL"),
        ("WS://127.0.0.1:9876", "no bridge's URL"),
        ("wss://127.0.0.1:9876", "no bridge's URL"),
        ("127.0.0.1:9876", "no bridge's URL"),
        ("ws://127.0.0.1", "no bridge's URL"),
        ("ws://127.0.0.1:0", "no bridge's URL"),
        ("ws://127.0.0.1:99999", "no bridge's URL"),
        ("ws://127.0.0.1:port", "no bridge's URL"),
        ("ws://[::1", "no bridge's URL"),
        ("", "no bridge's URL"),
        ("auto", "no bridge's URL"),
        ("ws://192.168.0.7:9876", "another machine"),
        ("ws://example.org:9876", "another machine"),
        ("ws://0.0.0.0:9876", "another machine"),
    ],
)
def test_other_urls_are_refused(url: str, match: str) -> None:
    """What is no bridge's URL, or leads off this machine, is refused before anything is sent."""
    with pytest.raises(ConfigError, match=match):
        parse_url(url)


def test_no_redirect_is_followed() -> None:
    """It might lead off this machine."""
    with socket.create_server(("127.0.0.1", 0)) as elsewhere, socket.create_server(("127.0.0.1", 0)) as server:
        elsewhere.settimeout(SHORT_S)
        there = f"ws://127.0.0.1:{elsewhere.getsockname()[1]}/"

        def redirect() -> None:
            connection, _ = server.accept()
            connection.recv(4096)
            connection.sendall(f"HTTP/1.1 302 Found\r\nLocation: {there}\r\n\r\n".encode())

        threading.Thread(target=redirect, daemon=True).start()
        with pytest.raises(BridgeProtocolError, match="is no bridge: Redirect limit exhausted"):
            BridgeClient(f"ws://127.0.0.1:{server.getsockname()[1]}", connect_timeout_s=2.0)
        with pytest.raises(TimeoutError):
            elsewhere.accept()
