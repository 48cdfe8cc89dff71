"""What bridges offer, and what is refused before anything is driven."""

import contextlib
import dataclasses
import json
import socket
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from racer_env.bridge.bridge import Bridge, bridge_at, track_on
from racer_env.bridge.client import BridgeClient
from racer_env.bridge.process import BridgeProcess
from racer_env.bridge.url import bridge_urls
from racer_env.env import RacerEnv
from racer_env.errors import BridgeLostError, BridgeProtocolError, ConfigError, TrackError
from racer_env.physics import load_physics
from racer_env.tracks import Track, UnseenTrack
from racer_env.tracks.starts import RANDOM, STANDING
from racer_env.vec_env import RacerVecEnv
from tests.fake_peer import FakePeer, version_1_game
from tests.helpers import TRACK_IDS, ring_track
from tests.racer_env.bridge.test_client import always
from tests.racer_env.bridge.test_messages import HELLO

OTHER_PHYSICS = "cd" * 32


def hello_of(tracks: list[Track], **changes: Any) -> dict[str, Any]:
    """Return the hello of a bridge that has these tracks and the project's physics."""
    entries = [{"id": t.id, "name": t.name, "length": t.length, "fingerprint": t.fingerprint} for t in tracks]
    return {**HELLO, "physics": load_physics().fingerprint, "tracks": entries, **changes}


# --- Version 2 ---


def test_bridge_tells_what_it_has(bridge_server: str, tracks: list[Track]) -> None:
    """The real bridge has the project's physics and tracks, by the same fingerprints."""
    peer = Bridge(bridge_server).peer
    assert peer.physics == load_physics().fingerprint
    assert {track_id: track.fingerprint for track_id, track in peer.tracks.items()} == {
        track.id: track.fingerprint for track in tracks
    }
    for track in tracks:
        assert peer.tracks[track.id].length == pytest.approx(track.length, abs=1e-9)


def test_simulator_learns_a_track_from_a_bridge(bridge_server: str, tracks: list[Track]) -> None:
    """A learned track is the bridge's, to the last digit."""
    for track in tracks:
        learned = Bridge(bridge_server).track(track.id)
        assert isinstance(learned, Track)
        assert learned.to_json() == track.to_json()


def test_all_tracks_of_a_bridge(bridge_server: str) -> None:
    """The name all stands for what the bridge has."""
    assert [track.id for track in Bridge(bridge_server).tracks(["all"])] == list(TRACK_IDS)


def test_track_named_twice_is_refused(bridge_server: str) -> None:
    """Every track is named once."""
    with pytest.raises(TrackError, match="'track-01' is named twice"):
        Bridge(bridge_server).tracks(["all", "track-01"])


def test_unknown_track_is_refused(bridge_server: str) -> None:
    """The message lists what there is."""
    with pytest.raises(TrackError, match="no track 'moon'; it has: track-01, track-02, track-03"):
        Bridge(bridge_server).track("moon")


def test_own_track_must_be_the_bridges(bridge_server: str, tmp_path: Path) -> None:
    """Another track under a known id is refused, in words."""
    document = {**ring_track().to_json(), "id": "track-01"}
    path = tmp_path / "track-01.json"
    path.write_text(json.dumps(document))
    for arguments in ((str(path),), ("track-01", tmp_path)):
        with pytest.raises(
            TrackError, match=r"another track than yours: total length 1,1\d\d\.\d against 1,2\d\d\.\d, "
        ):
            Bridge(bridge_server).track(*arguments)


def test_difference_from_the_bridges_track_is_in_words(bridge_server: str, track: Track) -> None:
    """Width, length and gates, whichever differ."""
    bridge = Bridge(bridge_server)
    assert bridge.difference_from(track) is None
    narrow = dataclasses.replace(track, half_widths=track.half_widths / 2)
    assert bridge.difference_from(narrow) == "half-widths 24.5 to 25.8 against 12.2 to 12.9"


def test_all_tracks_of_a_folder(bridge_server: str, tracks: list[Track], tmp_path: Path) -> None:
    """With a folder, the name all stands for what is in it, whatever the bridge can list."""
    (tmp_path / "track-02.json").write_text(json.dumps(tracks[1].to_json()))
    with FakePeer(version_1_game(tracks)) as peer:
        for url in (peer.url, bridge_server):
            assert [track.id for track in Bridge(url).tracks(["all"], tmp_path)] == ["track-02"]


def test_other_physics_are_refused_by_name() -> None:
    """The error names both fingerprints."""
    with FakePeer(always({**HELLO, "physics": OTHER_PHYSICS})) as peer:
        with pytest.raises(ConfigError, match=f"{OTHER_PHYSICS} against {load_physics().fingerprint}"):
            Bridge(peer.url)
        assert Bridge(peer.url, any_physics=True).peer.physics == OTHER_PHYSICS


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"physics": OTHER_PHYSICS}, f"its physics was .* and is {OTHER_PHYSICS}"),
        ({"tracks": []}, "its list of tracks was track-01, .* and is nothing"),
        ({"protocol": 1}, "its protocol was 2 and is 1"),
        ({"type": "error", "message": "unknown"}, "its protocol was 2 and is 1"),
    ],
)
def test_another_game_in_its_place_is_refused(tracks: list[Track], changes: dict[str, Any], match: str) -> None:
    """A later connection must lead to the same game: it may have been started anew with other data."""
    hellos = iter([hello_of(tracks), hello_of(tracks), {**hello_of(tracks), **changes}])

    def answer(message: dict[str, Any]) -> Any:
        return next(hellos) if message["type"] == "hello" else {"type": "close_result"}

    with FakePeer(lambda: answer) as peer:
        bridge = Bridge(peer.url)
        bridge.connect().close()
        with pytest.raises(BridgeProtocolError, match=f"another game than it was at the start: {match}"):
            bridge.connect()


def test_bridges_must_have_the_same_tracks(tracks: list[Track]) -> None:
    """Two bridges with different games are refused."""
    with FakePeer(always(hello_of(tracks))) as one, FakePeer(always(hello_of(tracks[:2]))) as other:
        assert len(Bridge([one.url, one.url]).urls) == 2
        with pytest.raises(ConfigError, match="have different tracks"):
            Bridge([one.url, other.url])


def test_bridges_must_speak_the_same_version(tracks: list[Track]) -> None:
    """One connection per car here and one for all there does not go together."""
    with (
        FakePeer(always(hello_of(tracks))) as one,
        FakePeer(version_1_game(tracks)) as other,
        pytest.raises(ConfigError, match="different versions"),
    ):
        Bridge([one.url, other.url])


def test_fewest_cars_per_connection_hold(tracks: list[Track]) -> None:
    """Of two limits the lower one holds."""
    with FakePeer(always(hello_of(tracks, maxEnvs=7))) as one, FakePeer(always(hello_of(tracks))) as other:
        assert Bridge([other.url, one.url]).peer.max_envs == 7


# --- Version 1 ---


def test_version_1_tracks_are_taken_by_name(tracks: list[Track]) -> None:
    """Nothing is known of them but the id; a track of one's own is taken at one's word."""
    with FakePeer(version_1_game(tracks)) as peer:
        bridge = Bridge(peer.url)
        assert not bridge.has_extensions
        assert bridge.track("anything") == UnseenTrack("anything")
        assert bridge.track(tracks[1]) is tracks[1]


def test_version_1_cannot_list_its_tracks(tracks: list[Track]) -> None:
    """They must be named."""
    with FakePeer(version_1_game(tracks)) as peer, pytest.raises(TrackError, match="cannot list its tracks"):
        Bridge(peer.url).tracks(["all"])


def test_version_1_has_standing_starts_only(tracks: list[Track]) -> None:
    """Another start is refused, also on a track that is known."""
    with FakePeer(version_1_game(tracks)) as peer:
        bridge, random = Bridge(peer.url), np.random.default_rng(0)
        assert bridge.placement(tracks[0], STANDING, random) is None
        for track in (tracks[0], UnseenTrack("track-01")):
            with pytest.raises(ConfigError, match="standing starts only"):
                bridge.placement(track, RANDOM, random)


# --- Which engine ---


def test_no_url_is_refused() -> None:
    """A bridge is somewhere."""
    with pytest.raises(ConfigError, match="at least one URL"):
        Bridge([])


def test_unreachable_bridge_is_an_error() -> None:
    """The first contact is made at once."""
    with pytest.raises(BridgeLostError, match="no bridge at"):
        Bridge("ws://127.0.0.1:1")


def test_environment_variable_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """An argument comes first, then the variable; the embedded simulator can be asked for in spite of it."""
    assert bridge_urls(None) == []
    assert bridge_urls(None, "auto") == ["auto"]
    monkeypatch.setenv("RACER_BRIDGE_URL", "ws://127.0.0.1:5 auto")
    assert bridge_urls(None, "auto") == ["ws://127.0.0.1:5", "auto"]
    assert bridge_urls("ws://127.0.0.1:6") == ["ws://127.0.0.1:6"]
    assert bridge_urls("embedded") == []
    monkeypatch.setenv("RACER_BRIDGE_URL", " ")
    assert bridge_urls(None) == []


def test_bundled_bridge_runs_until_it_is_closed(node_bridge: None) -> None:
    """Whoever says auto gets a bridge of its own, which ends with what uses it."""
    with Bridge(["auto", "auto"]) as bridge:
        assert len(set(bridge.urls)) == 2
    for url in bridge.urls:
        with pytest.raises(BridgeLostError):
            BridgeClient(url)


def test_bridge_that_is_refused_is_ended(node_bridge: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was started for nothing does not stay."""
    processes: list[BridgeProcess] = []
    start = BridgeProcess.__init__

    def noted(self: BridgeProcess, *arguments: Any) -> None:
        processes.append(self)
        start(self, *arguments)

    monkeypatch.setattr(BridgeProcess, "__init__", noted)
    monkeypatch.setattr(load_physics(), "fingerprint", OTHER_PHYSICS)
    with pytest.raises(ConfigError, match="other physics"):
        Bridge("auto")
    with pytest.raises(BridgeLostError):
        BridgeClient(processes[0].url)


def test_track_on_the_embedded_simulator(track: Track) -> None:
    """Without a bridge, ids are the project's tracks."""
    assert bridge_at(contextlib.ExitStack(), None) is None
    assert track_on(None, track) is track
    assert track_on(None, "track-02").id == "track-02"


def test_a_bridge_at_the_usual_place_that_nobody_named_is_pointed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a warning; not if the engine was named, and not if nothing listens there."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"ws://127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setattr("racer_env.bridge.url.DEFAULT_URL", url)
        with pytest.warns(UserWarning, match=f"something listens at {url}.* the embedded simulator is used"):
            RacerEnv(track_id="track-01")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            RacerEnv(track_id="track-01", bridge_url="embedded")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RacerEnv(track_id="track-01")


@pytest.mark.parametrize("make", [RacerEnv, RacerVecEnv, lambda: gymnasium.make("TopDownRacer-v0")])
def test_warning_of_a_bridge_points_at_who_makes_the_environment(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[], Any]
) -> None:
    """Through however many functions it is made."""
    monkeypatch.setattr("racer_env.bridge.bridge.unused_bridge", lambda wanted: "something listens")
    with pytest.warns(UserWarning, match="something listens") as caught:
        make()
    assert caught[0].filename == __file__
