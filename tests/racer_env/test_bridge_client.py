"""Scripts that were written for an earlier version of the client."""

import pytest

from racer_env import RacerEnv
from racer_env.bridge_client import BridgeClient
from racer_env.errors import BridgeError, BridgeLostError, ConfigError
from racer_env.tracks import Track
from tests.fake_peer import FakePeer, version_1_game

LAZY = {"weights": {"stillnessPenalty": -0.5}}


def test_a_request_returns_its_reply_as_a_dictionary(bridge_server: str) -> None:
    """With the keys of the protocol, and the numbers of the environment."""
    env = RacerEnv(track_id="track-02", config=LAZY)
    observation, info = env.reset()
    with BridgeClient(bridge_server) as client:
        reply = client.send_reset(LAZY, "track-02")
        assert {**reply, "observation": None} == {"type": "reset_result", "observation": None, "info": info}
        assert reply["observation"] == pytest.approx(observation, abs=1e-6)
        reply = client.send_step([0.0, 1.0, 0.0])
        _, reward, terminated, truncated, info = env.step([0.0, 1.0, 0.0])
        assert set(reply) == {"type", "observation", "reward", "terminated", "truncated", "info"}
        assert (len(reply["observation"]), reply["terminated"], reply["truncated"]) == (14, terminated, truncated)
        assert reply["reward"] == pytest.approx(reward, abs=1e-9)
        assert set(reply["info"]) == set(info)
        client.send_close()


def test_every_argument_has_a_default(track: Track) -> None:
    """And a configuration is checked before it is sent."""
    with FakePeer(version_1_game([track])) as peer, BridgeClient(peer.url) as client:
        assert len(client.send_reset()["observation"]) == 14
        with pytest.raises(ConfigError, match="unknown key 'weihgts'"):
            client.send_reset({"weihgts": {}})
        assert client.send_reset(config=LAZY, track_id=track.id)["info"]["stepCount"] == 0


def test_a_lost_bridge_is_a_connection_error(track: Track) -> None:
    """Python's own, which a script may know; the project's root catches it as well."""
    with FakePeer(version_1_game([track])) as peer:
        client = BridgeClient(peer.url)
        client.send_reset()
        peer.drop_all()
        with pytest.raises(ConnectionError, match="lost the bridge at ws://"):
            client.send_step([0.0, 0.0, 0.0])
        client.send_close()
    assert issubclass(BridgeLostError, BridgeError)
    with pytest.raises(ConnectionError, match="no bridge at ws://127.0.0.1:1 "):
        BridgeClient("ws://127.0.0.1:1")
