"""Whether a game's roads are those of the files here: noticed on both versions of the protocol, and said once."""

import dataclasses
import json
from pathlib import Path

import pytest

from racer_env.bridge.bridge import Bridge
from racer_env.bridge.process import BridgeProcess
from racer_env.tracks import Track
from tests.fake_peer import FakePeer, version_1_game
from tests.helpers import ring_track
from training.engines.roads import note_other_roads


def halved(track: Track) -> Track:
    """Return a track whose half-widths were taken for widths."""
    return dataclasses.replace(track, half_widths=track.half_widths / 2)


def notes(url: str, names: list[str], capsys: pytest.CaptureFixture[str], tracks_dir: Path | None = None) -> list[str]:
    """Return what is said about some tracks of a bridge."""
    bridge = Bridge(url)
    capsys.readouterr()
    note_other_roads(bridge, bridge.tracks(names, tracks_dir))
    return capsys.readouterr().err.splitlines()


def test_halved_widths_of_a_described_track_are_said(
    node_bridge: None, track: Track, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bundled bridge with another file of that name."""
    with BridgeProcess(tracks=[halved(track)]) as process:
        (said,) = notes(process.url, ["track-01", "track-02"], capsys)
    assert (
        "the game's track-01 is another road than its file here: half-widths 12.2 to 12.9 against 24.5 to 25.8" in said
    )


def test_halved_widths_are_seen_where_nothing_is_described(
    tracks: list[Track], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the walls beside the start line, and for files of one's own too."""
    ring = ring_track(id="mine")
    (tmp_path / "mine.json").write_text(json.dumps(ring.to_json()))
    with FakePeer(version_1_game([halved(tracks[0]), halved(ring), tracks[1]])) as peer:
        first, second = notes(peer.url, ["track-01", "mine", "track-02"], capsys, tmp_path)
    seen = "from the start line, the wall to the right is 43.0"
    assert f"the game's track-01 is another road than its file here: {seen}" in first
    assert "the game's mine is another road than its file here" in second


def test_unknown_tracks_and_equal_ones_are_passed_over(
    bridge_server: str, tracks: list[Track], capsys: pytest.CaptureFixture[str]
) -> None:
    """A game may have tracks that nobody has here; it is not even asked about them."""
    assert notes(bridge_server, ["all"], capsys) == []
    with FakePeer(version_1_game([ring_track(id="theirs"), tracks[0]])) as peer:
        assert notes(peer.url, ["theirs", "track-01"], capsys) == []
        assert {request["trackId"] for request in peer.requests if request["type"] == "reset"} == {"track-01"}


def test_another_road_far_from_the_line_is_seen_by_its_length(track: Track, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the view from the line is the same."""
    points = track.points.copy()
    points[len(points) // 2] += 15.0
    with FakePeer(version_1_game([dataclasses.replace(track, points=points)])) as peer:
        (said,) = notes(peer.url, ["track-01"], capsys)
    assert "total length about 1," in said
