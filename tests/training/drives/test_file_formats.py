"""Recordings as JSON: what a browser writes drives here as it did there, or one line says why not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from racer_env.config import AiConfig
from racer_env.errors import RecordingError
from racer_env.physics import load_physics
from racer_env.tracks import Track
from tests.helpers import RECORDINGS
from tests.runs import drive
from training import evaluate
from training.drivers.scripted import scripted_driver
from training.drives.recording import Recording, load_recording, record_episode, save_recording

EXAMPLE = RECORDINGS / "browser_lap.json"


@pytest.fixture(scope="module")
def recording(track: Track) -> Recording:
    """A lap of the scripted driver."""
    (episode,) = drive(scripted_driver, [track], config=AiConfig(), laps=1, keeps_actions=True)
    return record_episode("scripted", track, episode, AiConfig())


def test_json_brings_a_drive_back(recording: Recording, tmp_path: Path) -> None:
    """Bit by bit, with track and weights; no other file is left."""
    save_recording(recording, tmp_path / "it.json")
    assert [path.name for path in tmp_path.iterdir()] == ["it.json"]
    loaded = load_recording(tmp_path / "it.json")
    assert loaded.drive.states.tobytes() == recording.drive.states.tobytes()
    assert (loaded.driver, loaded.config) == ("scripted", AiConfig())
    assert loaded.track.fingerprint == recording.track.fingerprint


def test_the_example_is_what_a_browser_writes() -> None:
    """Without the reward weights, which it does not know; the keys are those of the documentation."""
    document = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    assert list(document) == [
        *("format", "driver", "physics_fingerprint", "track_fingerprint", "track", "start", "actions", "end")
    ]
    assert document["physics_fingerprint"] == load_physics().fingerprint
    (lap,) = load_recording(EXAMPLE).drive.laps
    assert (lap.last - lap.first, lap.is_clean) == (len(document["actions"]), True)


def test_evaluation_measures_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As any other drive, and records it again in the other form."""
    ticks = len(load_recording(EXAMPLE).actions)
    assert evaluate.main(["--replay", str(EXAMPLE), "--json", "--record", str(tmp_path / "it.npz")]) == 0
    track = json.loads(capsys.readouterr().out)["tracks"]["track-01"]
    assert track["lap_times_sec"] == [[pytest.approx(ticks / 60)]]
    assert len(load_recording(tmp_path / "it.npz").actions) == ticks


def test_evaluation_records_it(recording: Recording, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Over a recording, but over no other file of that ending."""
    path = tmp_path / "it.json"
    arguments = ["--model", "scripted", "--laps", "1", "--track-id", "track-01", "--record", str(path)]
    assert evaluate.main(arguments) == evaluate.main(arguments) == 0
    np.testing.assert_array_equal(load_recording(path).actions, recording.actions)
    path.write_text("{}")
    assert evaluate.main(arguments) == 2
    assert "it.json exists and is no recording; name another file" in capsys.readouterr().err
    assert path.read_text() == "{}"


def later(content: dict[str, Any]) -> None:
    """Steer a little more on one tick."""
    content["actions"][100][0] += 0.01


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda it: it.update(format=2), "expected format 1, got 2"),
        (lambda it: it.update(more=1), "unknown key 'more' in the recording; allowed: format, driver"),
        (lambda it: it.pop("end"), "the recording lacks the key 'end'"),
        (lambda it: it.update(driver=""), "driver must be a non-empty string"),
        (lambda it: it.update(physics_fingerprint="0" * 64), "was driven on other physics: 000000000000"),
        (lambda it: it.update(track_fingerprint="0" * 64), "its track is not the one that its fingerprint names"),
        (lambda it: it["track"].update(checkpointCount=1), "checkpointCount"),
        (lambda it: it["start"].update(x=1e19), r"its start is no state of a car \(start: x must be within"),
        (lambda it: it["start"].update(lap=1.5), "start.lap must be a whole number, got 1.5"),
        (lambda it: it["start"].pop("speed"), "start lacks the key 'speed'"),
        (lambda it: it["end"].update(x=float("inf")), "end.x must be a finite number, got inf"),
        (lambda it: it["end"].update(checkpoint=3), "it.json is elsewhere here after [0-9]+ ticks"),
        (later, "it.json is elsewhere here after [0-9]+ ticks; another engine has recorded it"),
        (lambda it: it["actions"].pop(), "is elsewhere here"),
        (lambda it: it.update(actions=[]), "it must have 1 to 2,000,000 ticks, got 0"),
        (lambda it: it.update(actions={}), "actions must be a list with an action for each tick, got dict"),
        (lambda it: it["actions"].__setitem__(7, [0, 1]), r"actions\[7\] must be a list of 3 numbers \(steer, thr"),
        (lambda it: it["actions"].__setitem__(7, [0, 1, True]), r"brake of actions\[7\] must be a number, got True"),
        (lambda it: it["actions"].__setitem__(7, [0, 10**400, 0]), r"throttle of actions\[7\] must be a finite number"),
    ],
)
def test_json_that_does_not_replay_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    """With the reason, in one line."""
    content = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    change(content)
    (tmp_path / "it.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(RecordingError, match=message) as refused:
        load_recording(tmp_path / "it.json")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"no JSON", b"[" * 100_000, b"[1]", b"{}", b"\xff", b"x" * 8_000_001])
def test_files_that_are_no_recording(tmp_path: Path, content: bytes) -> None:
    """Empty, foreign, deep, cut, of no text, and large ones."""
    (tmp_path / "it.json").write_bytes(content)
    with pytest.raises(RecordingError, match="it.json") as refused:
        load_recording(tmp_path / "it.json")
    assert "\n" not in str(refused.value)


def test_what_could_not_be_read_again_is_not_written(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JSON of many ticks is large; an archive is not."""
    monkeypatch.setattr("training.drives.recording.MAX_JSON", 10_000)
    with pytest.raises(RecordingError, match="at most 10,000 bytes, got .* ticks; name a file that ends in .npz"):
        save_recording(recording, tmp_path / "it.json")
    assert [*tmp_path.iterdir()] == []
    save_recording(recording, tmp_path / "it.npz")
