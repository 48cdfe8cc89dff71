"""The real bridge against clients that send nonsense, vanish, or come in numbers."""

import json
import random
import socket
import string
import time
from typing import Any

import numpy as np
import pytest
import websocket

from racer_env.bridge.client import BridgeClient
from racer_env.errors import BridgeLostError
from racer_env.tracks import Track
from racer_env.vec_env import RacerVecEnv
from tests.helpers import random_actions

MALFORMED = 10_000
BURST = 200  # messages on their way at once
JUNK: tuple[Any, ...] = (None, True, "text", "", [], {}, [None], -1, 1.5, 1e300, [[]], [1, 2], [[1, 2, 3]], {"a": 1})
ACTION = [0.5, 1.0, 0.0]

# Whole requests, and which values of each key are right although they are in JUNK.
REQUESTS: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    ({"type": "step", "action": ACTION}, {"action": ()}),
    ({"type": "step", "actions": [ACTION, ACTION]}, {"actions": ()}),
    ({"type": "reset", "trackId": "track-01"}, {"trackId": ()}),
    ({"type": "reset", "config": {"weights": {"progress": 2.0}}}, {"config": ({},)}),
    ({"type": "reset", "numEnvs": 2, "starts": [None, [5, 0, 0, 0]]}, {"numEnvs": (), "starts": ()}),
    ({"type": "reset", "start": [5, 0, 0, 0]}, {"start": (None,)}),
    ({"type": "track", "trackId": "track-02"}, {"trackId": ()}),
    ({"type": "hello"}, {}),
    ({"type": "close"}, {}),
)


def malformed(source: random.Random) -> str | bytes:
    """Return a message that no bridge may take for a request."""
    request, right = source.choice(REQUESTS)
    request, kind = dict(request), source.randrange(8)
    key = source.choice([*right]) if right else "type"
    if kind == 0:
        return json.dumps(request)[: source.randrange(1, len(json.dumps(request)))]
    if kind == 1:
        return "".join(source.choices(string.printable, k=source.randrange(1, 80)))[1:] + "x"
    if kind == 2:
        return json.dumps(source.choice([value for value in JUNK if not isinstance(value, dict)]))
    if kind == 3:
        return bytes(source.randrange(256) for _ in range(source.randrange(40)))
    if kind == 4:
        request["type"] = source.choice([value for value in JUNK if value not in right.get("type", ())])
    elif kind == 5:
        request["".join(source.choices(string.ascii_letters, k=5))] = source.choice(JUNK)
    elif kind == 6 and right:
        request[key] = source.choice([value for value in JUNK if value not in right[key]])
    elif kind == 7 and right:
        return json.dumps(request).replace(
            json.dumps(request[key]), source.choice(["NaN", "Infinity", "1e999", "[1e999,0,0]"])
        )
    else:
        del request["type"]
    return json.dumps(request)


def test_malformed_messages_change_nothing(bridge_server: str) -> None:
    """Each of 10,000 gets an error reply, and the simulation behind goes on like its undisturbed twin."""
    source = random.Random(7)
    messages = [malformed(source) for _ in range(MALFORMED)]
    with BridgeClient(bridge_server) as twin:
        disturbed = websocket.create_connection(bridge_server, timeout=5)
        disturbed.send(json.dumps({"type": "reset"}))
        disturbed.recv()
        twin.reset()
        for first in range(0, MALFORMED, BURST):
            burst = messages[first : first + BURST]
            for message in burst:
                (disturbed.send if isinstance(message, str) else disturbed.send_binary)(message)
            for message in burst:
                reply = json.loads(disturbed.recv())
                assert reply["type"] == "error", message
                assert "\n" not in reply["message"]
                assert not reply["message"].startswith("internal error"), message
            disturbed.send(json.dumps({"type": "step", "action": ACTION}))
            assert json.loads(disturbed.recv())["observation"] == twin.step(ACTION).observation.tolist()
        disturbed.close()


def test_oversize_closes_that_connection_only(bridge_server: str) -> None:
    """A message above 65,536 bytes ends its own connection with code 1009."""
    with BridgeClient(bridge_server) as client, BridgeClient(bridge_server) as other:
        other.reset()
        client._send(b'{"type":"hello"' + b" " * 65_536 + b"}")
        with pytest.raises(BridgeLostError, match="code 1009"):
            client.receive_step()
        other.step(ACTION)


def test_ten_connections_are_independent(bridge_server: str, tracks: list[Track]) -> None:
    """Connections that take turns drive as if each were alone."""
    actions = random_actions(4, 100, 10)
    with BridgeClient(bridge_server) as client:
        alone = []
        for car in range(10):
            client.reset(tracks[car % 3].id)
            alone.append([client.step(action).observation for action in actions[:, car]])
    clients = [BridgeClient(bridge_server) for _ in range(10)]
    for car, client in enumerate(clients):
        client.reset(tracks[car % 3].id)
    for tick, step in enumerate(actions):
        for client, action in zip(clients, step, strict=True):
            client.send_step(action)
        for car, client in enumerate(clients):
            np.testing.assert_array_equal(client.receive_step().observation, alone[car][tick])
    for client in clients:
        client.close()


def test_vanished_and_silent_clients_do_no_harm(bridge_server: str) -> None:
    """Clients that connect and say nothing, or die in the middle, leave the others alone."""
    host, port = bridge_server.removeprefix("ws://").split(":")
    silent = [socket.create_connection((host, int(port))) for _ in range(20)]
    for _ in range(20):
        client = BridgeClient(bridge_server)
        client.send_reset()
        client._stream.close()
    with BridgeClient(bridge_server) as client:
        client.reset()
        client.step(ACTION)
    for connection in silent:
        connection.close()


def test_long_silence_is_fine(bridge_server: str) -> None:
    """A trainer that computes for a while between two steps keeps its connection; so does one that ignores pings."""
    with BridgeClient(bridge_server) as client:
        client.reset()
        time.sleep(1.5)
        client.step(ACTION)


def test_reset_on_the_same_track_is_quick(bridge_server: str) -> None:
    """A reset does not build the track again: it costs a few steps at most."""
    with BridgeClient(bridge_server) as client:
        client.reset()
        times = {"reset": 0.0, "step": 0.0}
        for _ in range(200):
            began = time.perf_counter()
            client.reset()
            times["reset"] += time.perf_counter() - began
            began = time.perf_counter()
            client.step(ACTION)
            times["step"] += time.perf_counter() - began
    assert times["reset"] < 5 * times["step"]


@pytest.mark.parametrize("cars", [1, 256])
def test_whole_range_of_cars(bridge_server: str, track: Track, cars: int) -> None:
    """One connection takes from 1 to 256 cars with starts anywhere."""
    env = RacerVecEnv([track], cars, bridge_url=bridge_server, random_start_share=1.0)
    env.seed(1)
    assert env.reset().shape == (cars, 14)
    env.step(random_actions(1, cars))
    env.close()
