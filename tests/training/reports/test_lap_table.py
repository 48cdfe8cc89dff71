"""The table of a run's lap times."""

from pathlib import Path

import pytest
from torch.utils.tensorboard import SummaryWriter

from training.drives.recording import load_recording
from training.reports.lap_table import COLUMNS, lap_table
from training.reports.run_log import RunLog

pytestmark = pytest.mark.timeout(60)


def log_of(folder: Path, *evaluations: dict[str, float]) -> RunLog:
    """Return the log of a run that was evaluated, the figures by their tags."""
    with SummaryWriter(str(folder)) as writer:
        for step, figures in enumerate(evaluations, start=1):
            for tag, value in figures.items():
                writer.add_scalar(tag, value, step)
    return RunLog(folder)


def test_a_record_lap_with_the_drive_that_it_ends(trained: Path) -> None:
    """And the figures of the last evaluation, as they were logged."""
    logs = trained / "logs" / "lap"
    recording, log = load_recording(logs / "records" / "track-01.npz"), RunLog(logs)
    (row,) = lap_table(log, ["track-01"], [recording])
    assert len(row) == len(COLUMNS)
    lap = recording.drive.best_lap
    assert lap is not None
    assert row[:3] == ["track-01", f"{lap.seconds:.2f} s", recording.driver]
    assert row[3].split() == [f"{each.seconds:.2f}" for each in recording.drive.laps]
    last = {name: log.curve(f"eval/{name}") for name in ("clean_laps", "laps_asked", "best_lap_time_sec")}
    clean, asked, best = (curve.values[-1] for curve in last.values() if curve is not None)
    assert row[4:6] == [f"{clean:.0f} of {asked:.0f}", f"{best:.2f} s"]


def test_a_last_evaluation_without_a_lap_has_no_lap_time(tmp_path: Path) -> None:
    """That of an earlier one is not taken for it; nor is there a record."""
    asked = {"eval/episodes": 1, "eval/laps_asked": 3}
    good = {**asked, "eval/laps": 3, "eval/clean_laps": 2, "eval/best_lap_time_sec": 7, "eval/mean_lap_time_sec": 8}
    log = log_of(tmp_path, good, {**asked, "eval/laps": 0, "eval/clean_laps": 0})
    assert lap_table(log, ["a"], []) == [["a", "-", "-", "-", "0 of 3", "-", "-"]]


def test_several_tracks_have_rows_of_their_own(tmp_path: Path) -> None:
    """Those that were evaluated, trained on or not; together, their lap times would mean little."""
    figures = {"eval/episodes": 2.0, "eval/laps": 6.0, "eval/mean_lap_time_sec": 6.5}
    for track, seconds in (("b", 6.0), ("a", 7.0)):
        named = {"laps": 3.0, "clean_laps": 3.0, "laps_asked": 3.0, "mean_lap_time_sec": seconds}
        figures |= {f"eval_{track}/{name}": value for name, value in named.items()}
    rows = lap_table(log_of(tmp_path, figures), ["a", "c"], [])
    assert [(row[0], row[-1]) for row in rows] == [("a", "7.00 s"), ("b", "6.00 s")]


def test_of_many_tracks_together_nothing_is_said_of_one(trained: Path, tmp_path: Path) -> None:
    """Only the record."""
    recording = load_recording(trained / "logs" / "lap" / "records" / "track-01.npz")
    log = log_of(tmp_path, {"eval/episodes": 9.0, "eval/laps": 27.0, "eval/mean_lap_time_sec": 6.5})
    (row,) = lap_table(log, [f"t{number}" for number in range(9)], [recording])
    assert row[0] == "track-01"
    assert row[-3:] == ["-", "-", "-"]


def test_a_run_without_evaluations_has_no_rows(tmp_path: Path) -> None:
    """There is nothing to tell."""
    assert lap_table(log_of(tmp_path, {"reward/progress": 1.0}), ["a"], []) == []
