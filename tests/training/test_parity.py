"""The comparison of a bridge with the simulator: it finds what differs and says where."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from racer_env.tracks import Track
from tests.fake_peer import FakePeer, version_1_game
from tests.helpers import TRACK_IDS, ring_document
from tests.racer_env.bridge.test_bridge import OTHER_PHYSICS, hello_of
from training.engines.parity import QUANTITIES, Comparison
from training.parity import main

pytestmark = pytest.mark.timeout(60)  # on a busy machine

Change = Callable[[dict[str, Any]], None]


def run(url: str, *arguments: str, episodes: int = 2) -> int:
    """Run the script on the first track."""
    return main(["--bridge-url", url, "--track-id", "track-01", "--episodes", str(episodes), *arguments])


def lying_game(
    tracks: list[Track], change: Change, what: str = "step_result"
) -> Callable[[], Callable[[dict[str, Any]], Any]]:
    """Return a version-1 game whose replies of one type are changed before they go out."""

    def make_answer() -> Callable[[dict[str, Any]], Any]:
        game = version_1_game(tracks)()

        def answer(message: dict[str, Any]) -> Any:
            reply = game(message)
            if reply["type"] == what:
                change(reply)
            return reply

        return answer

    return make_answer


# --- Equal ---


@pytest.mark.parametrize("track_id", TRACK_IDS)
def test_real_bridge_is_equal(bridge_server: str, track_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Random and scripted episodes agree to 1e-9, discrete values exactly."""
    assert main(["--bridge-url", bridge_server, "--track-id", track_id, "--episodes", "4"]) == 0
    output = capsys.readouterr().out
    assert f"{track_id} (" in output
    assert "discrete values are the same on every tick" in output
    assert "equal: the bridge and the simulator are one game" in output


def test_version_1_game_is_equal(tracks: list[Track], capsys: pytest.CaptureFixture[str]) -> None:
    """A user's own bridge needs no more than version 1."""
    with FakePeer(version_1_game(tracks)) as peer:
        assert run(peer.url) == 0
    assert "version 1 of the protocol" in capsys.readouterr().out


def test_bundled_bridge_is_the_default(node_bridge: None, capsys: pytest.CaptureFixture[str]) -> None:
    """Without an argument the script starts the bundled bridge."""
    assert main(["--track-id", "track-01", "--episodes", "1"]) == 0
    assert "1 episode, " in capsys.readouterr().out


# --- Different ---


def add(key: str, amount: float) -> Change:
    """Return a change of one number, in the info or beside it."""

    def change(reply: dict[str, Any]) -> None:
        part = reply["info"] if key in reply["info"] else reply
        part[key] = part[key] + amount if not isinstance(part[key], list) else [x + amount for x in part[key]]

    return change


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (add("reward", 1e-6), "reward                    1.0e-06  <-"),
        (add("rawSpeed", 2e-9), "rawSpeed                  2.0e-09  <-"),
        (add("observation", 1e-7), "rays                      1.0e-07  <-"),
        (add("lap", 1), "lap differs first, on tick 1 of episode 1: 2 against 1 in the simulator"),
        (lambda reply: reply.update(terminated=True), "terminated differs first, on tick 1 of episode 1"),
    ],
)
def test_difference_is_named(
    tracks: list[Track], change: Change, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The quantity, and for discrete ones the tick, are in the output; the exit code is 1."""
    with FakePeer(lying_game(tracks, change)) as peer:
        assert run(peer.url) == 1
    output = capsys.readouterr().out
    assert named in output
    assert output.endswith("different\n")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (add("observation", 1e-7), "rays                      1.0e-07  <-"),
        (add("speed", 0.5), "rawSpeed                  5.0e-01  <-"),
        (add("lap", 8), "lap differs first, on tick 0 of episode 1: 9 against 1 in the simulator"),
    ],
)
def test_difference_of_a_reset_is_named(
    tracks: list[Track], change: Change, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What an episode begins with counts as well."""
    with FakePeer(lying_game(tracks, change, "reset_result")) as peer:
        assert run(peer.url) == 1
    assert named in capsys.readouterr().out


def rows(arc_length: float, distance: float) -> np.ndarray:
    """Return an episode of three ticks and a reset, in the second of which the nearest point is another one."""
    episode = np.zeros((4, len(QUANTITIES)))
    for name, tick, value in (("arc length", 2, arc_length), ("centre distance", 2, distance)):
        episode[tick, QUANTITIES.index(f"observed {name}")] = value
    episode[2:4, QUANTITIES.index("progress")] = episode[2:4, QUANTITIES.index("reward")] = arc_length, -arc_length
    return episode


def test_tie_of_the_nearest_point_is_passed_over() -> None:
    """Two points that are equally near are both right; one that is not, or far from it, is a difference."""
    tie, farther, other = Comparison(), Comparison(), Comparison()
    tie.add(rows(0.0, 0.0), rows(7e-7, 0.0))
    assert tie.is_equal
    assert tie.ties == 1
    farther.add(rows(0.0, 0.0), rows(7e-7, 1e-6))
    assert not farther.is_equal
    other.add(rows(0.0, 0.0), rows(1e-3, 0.0))
    assert not other.is_equal


def test_arc_length_that_is_always_off_is_no_tie() -> None:
    """A game with another arc length differs, however little."""
    comparison, episode = Comparison(), np.zeros((4, len(QUANTITIES)))
    off = episode.copy()
    off[:, QUANTITIES.index("observed arc length")] = 7e-7
    comparison.add(episode, off)
    assert not comparison.is_equal


def test_tiny_difference_is_tolerated(tracks: list[Track]) -> None:
    """Rounding in another engine is no difference."""
    with FakePeer(lying_game(tracks, add("reward", 1e-12))) as peer:
        assert run(peer.url) == 0


def test_later_discrete_difference_names_its_tick(tracks: list[Track], capsys: pytest.CaptureFixture[str]) -> None:
    """The first tick counts, not the first column."""

    def change(reply: dict[str, Any]) -> None:
        if reply["info"]["tick"] >= 30:
            reply["info"]["tick"] += 1
        if reply["info"]["stepCount"] >= 20:
            reply["info"]["checkpoint"] += 1

    with FakePeer(lying_game(tracks, change)) as peer:
        assert run(peer.url) == 1
    assert "checkpoint differs first, on tick 20 of episode 1" in capsys.readouterr().out


def renamed(track: Track, track_id: str) -> Track:
    """Return a track under another id."""
    return Track(track_id, track.name, track.checkpoint_count, track.points, track.half_widths, track.physics)


def test_another_track_is_seen_over_version_1(tracks: list[Track], capsys: pytest.CaptureFixture[str]) -> None:
    """A game with another track under the same id is told so in words, with both lengths."""
    with FakePeer(version_1_game([renamed(tracks[1], "track-01")])) as peer:
        assert run(peer.url) == 1
    assert "the bridge's track-01 is another track: total length about 2,73" in capsys.readouterr().out


def test_another_width_is_seen_over_version_1(tracks: list[Track], capsys: pytest.CaptureFixture[str]) -> None:
    """The same line with other walls is noticed from the start."""
    track = tracks[0]
    wider = Track(track.id, track.name, track.checkpoint_count, track.points, track.half_widths + 1.0, track.physics)
    with FakePeer(version_1_game([wider])) as peer:
        assert run(peer.url) == 1
    assert "another track: from the start line, the wall to the right is 56." in capsys.readouterr().out


def test_another_track_is_told_by_version_2(tracks: list[Track], capsys: pytest.CaptureFixture[str]) -> None:
    """A bridge that describes its tracks needs no drive."""
    theirs = renamed(tracks[1], "track-01")
    replies = {"hello": hello_of([theirs]), "track": {"type": "track_result", "track": theirs.to_json()}}
    with FakePeer(lambda: lambda message: replies.get(message["type"])) as peer:
        assert run(peer.url) == 1
    lengths = f"total length {tracks[1].length:,.1f} against {tracks[0].length:,.1f}, half-widths 22.0 to 29.8 against"
    assert f"the bridge's track-01 is another track: {lengths}" in capsys.readouterr().out


def test_other_physics_are_named(tracks: list[Track], capsys: pytest.CaptureFixture[str]) -> None:
    """Other physics are a difference, even where the drives show none."""

    def make_answer() -> Callable[[dict[str, Any]], Any]:
        game = version_1_game(tracks)()
        hello = hello_of(tracks, physics=OTHER_PHYSICS)
        return lambda message: hello if message["type"] == "hello" else game(message)

    with FakePeer(make_answer) as peer:
        assert run(peer.url) == 1
    output = capsys.readouterr().out
    assert f"other physics: {OTHER_PHYSICS} against" in output
    assert "discrete values are the same on every tick" in output


def test_nan_counts_as_a_difference() -> None:
    """A value that is not there is not equal."""
    comparison, row = Comparison(), np.zeros((1, len(QUANTITIES)))
    other = row.copy()
    other[0, 3] = np.nan
    comparison.add(row, other)
    assert not comparison.is_equal


# --- Could not run ---


def test_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit code 2."""
    assert run("ws://127.0.0.1:1") == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_embedded_has_nothing_to_compare(capsys: pytest.CaptureFixture[str]) -> None:
    """The simulator is not compared with itself."""
    assert run("embedded") == 2
    assert "must be one bridge" in capsys.readouterr().err


def test_bridge_without_the_track(bridge_server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A track that only the project has cannot be compared."""
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({**ring_document(), "id": "mine"}))
    assert main(["--bridge-url", bridge_server, "--track-id", str(path)]) == 2
    assert "the bridge has no track 'mine'; it has: track-01" in capsys.readouterr().err
