"""Recorded drives: they are replayed exactly, or refused."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from racer_env.config import AiConfig
from racer_env.errors import RecordingError
from racer_env.physics import load_physics
from racer_env.tracks import Track
from tests.helpers import make_link
from tests.runs import drive
from training import evaluate
from training.drivers.scripted import scripted_driver
from training.drives.recording import Drive, Lap, Recording, load_recording, record, record_episode, save_recording
from training.runs.fastest_laps import FastestLaps, record_path


@pytest.fixture(scope="module")
def recording(track: Track) -> Recording:
    """Two laps of the scripted driver."""
    (episode,) = drive(scripted_driver, [track], config=AiConfig(), laps=2, keeps_actions=True)
    return record_episode("scripted", track, episode)


def test_a_drive_is_what_was_driven(recording: Recording, track: Track) -> None:
    """As many ticks, the laps of the evaluation, states that follow each other, and observations of them."""
    (episode,) = drive(scripted_driver, [track], config=AiConfig(), laps=2)
    replayed = recording.drive
    assert [lap.last - lap.first for lap in replayed.laps] == episode.lap_ticks
    assert [lap.is_clean for lap in replayed.laps] == episode.clean
    assert len(replayed.states) == len(replayed.observations) == len(replayed.actions) + 1 == episode.steps + 1
    assert replayed.states["step_count"].tolist() == [*range(episode.steps + 1)]
    assert np.allclose(replayed.observations[:, 9], replayed.states["speed"] / 160)
    assert replayed.best_lap == replayed.laps[1]


def test_a_part_is_what_driving_it_would_give(recording: Recording) -> None:
    """Up to the end of its first lap, under another name."""
    first = recording.drive.laps[0]
    part = recording.until(first.last, "other")
    driven = record("other", recording.track, recording.actions[: first.last], recording.config).drive
    assert part.driver == part.drive.driver == "other"
    assert part.drive.laps == driven.laps == (first,)
    for name in ("actions", "states", "observations", "infos"):
        assert getattr(part.drive, name).tolist() == getattr(driven, name).tolist(), name


def test_a_file_brings_it_back(recording: Recording, tmp_path: Path) -> None:
    """Bit by bit, with its track, whose file is not needed."""
    save_recording(recording, tmp_path / "deep" / "it.npz")
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["it.npz"]
    loaded = load_recording(tmp_path / "deep" / "it.npz")
    assert loaded.driver == "scripted"
    assert loaded.track.fingerprint == recording.track.fingerprint
    assert loaded.drive.states.tobytes() == recording.drive.states.tobytes()


def rewrite(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    """Change the arrays and the card of a recording."""
    with np.load(path) as file:
        arrays: dict[str, Any] = dict(file)
    card = json.loads(str(arrays["card"]))
    change(arrays, card)
    arrays["card"] = np.array(json.dumps(card)) if isinstance(arrays["card"], np.ndarray) else arrays["card"]
    np.savez(path, **arrays)


def turn(arrays: dict[str, Any], card: dict[str, Any]) -> None:
    """Steer a little more on one tick."""
    arrays["actions"][100, 0] += 0.01


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arrays, card: card.update(physics_fingerprint="0" * 64), "was driven on other physics: 000000000000"),
        (lambda arrays, card: card.update(format=2), "expected format 1, got 2"),
        (lambda arrays, card: card.update(track_fingerprint="0" * 64), "its track is not the one"),
        (lambda arrays, card: card["track"].update(checkpointCount=1), "checkpointCount"),
        (lambda arrays, card: card["start"].update(x=float("nan")), "its start is no state of a car"),
        (lambda arrays, card: card["start"].update(heading=1e12), r"no state of a car \(start: heading must be within"),
        (lambda arrays, card: card["start"].update(heading=1e300), "its start is no state of a car"),
        (lambda arrays, card: card["start"].update(x=10**400), "its start is no state of a car"),
        (lambda arrays, card: card["start"].update(checkpoint=30), "checkpoint must be within"),
        (lambda arrays, card: card["start"].update(x=1.0), "drives differently here from tick 0 on"),
        (lambda arrays, card: card.pop("driver"), "damaged or none"),
        (lambda arrays, card: arrays["actions"].__setitem__((3, 0), np.inf), "actions must be finite numbers"),
        (lambda arrays, card: arrays.update(actions=arrays["actions"][:, :2]), "actions must be finite numbers"),
        (lambda arrays, card: arrays.update(states=arrays["states"][:-5]), "states must be one more than actions"),
        (lambda arrays, card: arrays.update(actions=arrays["actions"][:0]), "it must have 1 to"),
        (turn, "drives differently here from tick 101 on"),
    ],
)
def test_what_does_not_replay_is_refused(
    recording: Recording, tmp_path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None], message: str
) -> None:
    """With the reason, in one line."""
    path = tmp_path / "it.npz"
    save_recording(recording, path)
    rewrite(path, change)
    with pytest.raises(RecordingError, match=message) as refused:
        load_recording(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut off", None])
def test_files_that_are_none(tmp_path: Path, content: bytes | None) -> None:
    """Missing, empty, foreign and cut ones."""
    path = tmp_path / "it.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RecordingError, match="no recording|cannot load the recording .*it.npz, damaged or none"):
        load_recording(path)


def test_a_missing_file_names_those_of_several_tracks(tmp_path: Path) -> None:
    """As --record has written them."""
    (tmp_path / "lap_track-01.npz").write_bytes(b"")
    with pytest.raises(RecordingError, match="no recording .*lap.npz; there are lap_track-01.npz"):
        load_recording(tmp_path / "lap.npz")


def test_a_drivers_name_is_text(recording: Recording, tmp_path: Path) -> None:
    """Whatever a stranger's file says, it can be shown."""
    path = tmp_path / "it.npz"
    save_recording(recording, path)
    rewrite(path, lambda arrays, card: card.update(driver="a\0b\n" + "x" * 20_000))
    assert load_recording(path).driver == "ab" + "x" * 98


@pytest.mark.parametrize(
    "more",
    [["--compare", "scripted"], ["--track-id", "track-02"], ["--laps", "7"], ["--no-vecnorm"], ["--seed", "2"]],
)
def test_a_replay_is_what_was_recorded(
    recording: Recording, tmp_path: Path, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Arguments about driving would change nothing, so they are refused."""
    save_recording(recording, tmp_path / "it.npz")
    assert evaluate.main(["--replay", str(tmp_path / "it.npz"), *more]) == 2
    assert f"--replay drives what was recorded; leave out {more[0]}" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--record", "--video", "--plot"])
def test_places_that_cannot_be_are_named_before_anything_is_driven(
    tmp_path: Path, flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder for a file, or a file for a folder."""
    place = tmp_path / ("taken.npz" if flag == "--record" else "taken.mp4")
    if flag == "--plot":
        place.write_text("")
    else:
        place.mkdir()
    arguments = ["--model", "scripted", "--laps", "1000", "--episodes", "100", flag, str(place)]
    assert evaluate.main(arguments) == 2
    assert re.search(rf"{flag} takes a (folder|file), and .*taken.* is a (file|folder)", capsys.readouterr().err)


def test_a_recording_does_not_take_the_place_of_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its file's ending tells."""
    (tmp_path / "lap_best.zip").write_text("a driver")
    assert evaluate.main(["--model", "scripted", "--laps", "1", "--record", str(tmp_path / "lap_best.zip")]) == 2
    assert "--record takes a file that ends in .npz" in capsys.readouterr().err
    assert (tmp_path / "lap_best.zip").read_text() == "a driver"


def test_a_pickle_is_not_opened(tmp_path: Path) -> None:
    """An array of objects could run anything."""

    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (tmp_path / "sprung",)

    np.savez(tmp_path / "it.npz", card=np.array([Trap()]), actions=np.zeros((1, 3)), states=np.zeros(2))
    with pytest.raises(RecordingError, match="damaged or none"):
        load_recording(tmp_path / "it.npz")
    assert not (tmp_path / "sprung").exists()


def test_a_drive_over_a_bridge_is_recorded(engine_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Evaluation saves it, and replaying prints the same laps."""
    path = tmp_path / "it.npz"
    arguments = ["--laps", "1", "--track-id", "track-01", "--json"]
    assert evaluate.main(["--model", "scripted", *arguments, "--bridge-url", engine_url, "--record", str(path)]) == 0
    captured = capsys.readouterr()
    driven = json.loads(captured.out)["tracks"]["track-01"]
    assert f"saved {path}" in captured.err
    assert evaluate.main(["--replay", str(path), "--json"]) == 0
    replayed = json.loads(capsys.readouterr().out)["tracks"]["track-01"]
    assert replayed["lap_times_sec"] == driven["lap_times_sec"]
    assert replayed["mean_reward"] == pytest.approx(driven["mean_reward"])
    assert replayed["off_track_share"] == driven["off_track_share"]


def test_a_game_that_drives_differently_cannot_be_recorded(track: Track) -> None:
    """Its laps are not those that the simulator makes of the same actions."""
    (episode,) = drive(scripted_driver, [track], config=AiConfig(), laps=1, keeps_actions=True)
    episode.lap_ticks[0] += 1
    with pytest.raises(RecordingError, match="drives differently from the simulator"):
        record_episode("it", track, episode)


def test_a_start_elsewhere_begins_with_an_out_lap(track: Track) -> None:
    """The way to the line is no lap."""
    standing = record("it", track, [np.array([0.0, 1.0, 0.0])] * 10).drive
    states = np.concatenate([standing.states[:1]] * 6)
    states["lap"] = [0, 0, 1, 1, 2, 2]
    from training.drives.recording import _laps_of

    infos = standing.infos[:5].copy()
    assert _laps_of(states, infos) == (Lap(2, 4, True),)
    infos["wallContact"][1] = True  # before the line
    assert _laps_of(states, infos) == (Lap(2, 4, True),)
    infos["wallContact"][3] = True
    assert _laps_of(states, infos) == (Lap(2, 4, False),)


# --- Record laps ---


def trimmed(recording: Recording, lap: int) -> Recording:
    """Return a recording of the first laps."""
    return Recording("it", recording.track, recording.start, recording.actions[: recording.drive.laps[lap].last])


def lap_in(path: Path) -> Lap:
    """Return the best lap of a file."""
    lap = load_recording(path).drive.best_lap
    assert lap is not None
    return lap


def test_the_fastest_clean_lap_of_a_run_is_kept(recording: Recording, tmp_path: Path) -> None:
    """A slower one does not replace it, after the run went on neither; what is kept ends with the lap."""
    path = record_path(tmp_path, "track-01")
    FastestLaps(tmp_path, "run").offer(trimmed(recording, 0), 1000)
    assert lap_in(path) == recording.drive.laps[0]
    records = FastestLaps(tmp_path, "run")
    beyond = np.concatenate([recording.actions, np.zeros((30, 3))])
    records.offer(Recording("it", recording.track, recording.start, beyond), 2000)
    assert lap_in(path) == recording.drive.laps[1]
    assert load_recording(path).driver == "run at 2,000 steps"
    assert len(load_recording(path).actions) == recording.drive.laps[1].last
    before = path.read_bytes()
    records.offer(trimmed(recording, 0), 3000)
    FastestLaps(tmp_path, "run").offer(trimmed(recording, 0), 4000)
    assert path.read_bytes() == before


def test_a_lap_that_touched_a_wall_is_no_record(recording: Recording, tmp_path: Path) -> None:
    """Nor is no lap at all."""
    records = FastestLaps(tmp_path, "run")
    touching = Recording("it", recording.track, recording.start, recording.actions)
    laps = tuple(Lap(lap.first, lap.last, False) for lap in recording.drive.laps)
    vars(touching)["drive"] = Drive(**{**vars(recording.drive), "laps": laps})
    records.offer(touching, 1)
    records.offer(Recording("it", recording.track, recording.start, recording.actions[:50]), 1)
    assert not record_path(tmp_path, "track-01").exists()


def test_a_damaged_record_is_replaced(recording: Recording, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And said to have been."""
    path = record_path(tmp_path, "track-01")
    path.parent.mkdir()
    path.write_bytes(b"cut off")
    FastestLaps(tmp_path, "run").offer(recording, 1)
    assert "the record lap is replaced by the next one" in capsys.readouterr().err
    assert lap_in(path)


def test_a_record_that_cannot_be_written_ends_no_run(
    recording: Recording, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is said; the next one is tried again."""
    (tmp_path / "records").write_text("in the way")
    FastestLaps(tmp_path, "run").offer(recording, 1)
    assert "cannot save the record lap" in capsys.readouterr().err


def test_training_keeps_record_laps(trained: Path) -> None:
    """Of its evaluations, in the run's folder; physics are those of now."""
    recording = load_recording(record_path(trained / "logs" / "lap", "track-01"), load_physics())
    assert recording.driver.startswith("lap at ")
    lap = recording.drive.best_lap
    assert lap is not None
    assert lap.is_clean
    assert lap.last == len(recording.actions)


def test_a_record_lap_is_not_written_through_a_link(recording: Recording, tmp_path: Path) -> None:
    """A folder of records that leads elsewhere is replaced by the run's own."""
    (tmp_path / "elsewhere").mkdir()
    make_link(tmp_path / "records", tmp_path / "elsewhere")
    FastestLaps(tmp_path, "a").offer(recording, 100)
    assert [*(tmp_path / "elsewhere").iterdir()] == []
    assert record_path(tmp_path, recording.track.id).is_file()
