"""Plots of drives: what they show is what was driven."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from racer_env.config import AiConfig
from racer_env.tracks import Track
from tests.runs import drive
from training import evaluate
from training.drivers.scripted import scripted_driver
from training.drives.plots import (
    along,
    braking_points,
    lap_times,
    racing_line,
    save_plots,
    seconds_ahead,
    telemetry,
    time_difference,
)
from training.drives.recording import Drive, Lap, record_episode
from training.evaluation.episode import Episode

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(scope="module")
def driven(tracks: list[Track]) -> tuple[Drive, Episode]:
    """Two laps of the scripted driver, which brakes, on the second track."""
    (episode,) = drive(scripted_driver, [tracks[1]], config=AiConfig(), laps=2, keeps_actions=True)
    return record_episode("scripted", tracks[1], episode).drive, episode


def test_a_lap_by_arc_length(driven: tuple[Drive, Episode]) -> None:
    """It rises from the line to the line, and seconds with it."""
    a_drive = driven[0]
    lap = along(a_drive, a_drive.laps[1])
    assert abs(lap.arc_length[0]) < 5
    assert lap.arc_length[-1] == pytest.approx(a_drive.track.length, abs=5)
    assert (np.diff(lap.arc_length) >= 0).all()
    assert lap.seconds[-1] == a_drive.laps[1].seconds


def test_braking_points_are_where_braking_begins() -> None:
    """Once for each time that the brake goes down, however it trembles before it is released."""
    brake = [0, 0.2, 0.5, 0.25, 0.6, 0.05, 0, 0.31, 0.9]
    lap: Any = SimpleNamespace(states=np.array([(value,) for value in brake], dtype=[("brake", float)]))
    assert braking_points(lap).tolist() == [2, 7]


def test_a_lap_is_not_ahead_of_itself(driven: tuple[Drive, Episode]) -> None:
    """But of a slower one, in the end by the difference of their times; the first lap begins at rest."""
    a_drive = driven[0]
    first, second = ((a_drive, lap) for lap in a_drive.laps)
    assert not seconds_ahead(second, second)[1].any()
    distance, ahead = seconds_ahead(second, first)
    assert distance[-1] == a_drive.track.length
    assert ahead[0] == pytest.approx(0.0, abs=0.05)
    assert ahead[-1] == pytest.approx(first[1].seconds - second[1].seconds, abs=0.05)


def test_the_racing_line_is_coloured_by_speed(driven: tuple[Drive, Episode]) -> None:
    """A piece for each tick of the lap, with its speed, and a mark at every braking point."""
    a_drive, lap = driven[0], driven[0].laps[1]
    axes = racing_line(a_drive, lap).axes[0]
    line = next(collection for collection in axes.collections if type(collection).__name__ == "LineCollection")
    speeds: Any = line.get_array()
    assert np.array_equal(speeds, a_drive.states["speed"][lap.first + 1 : lap.last + 1])
    marks = [artist for artist in axes.lines if artist.get_marker() == "v"]
    assert len(marks) == 1
    assert len(np.asarray(marks[0].get_xdata())) == len(braking_points(along(a_drive, lap))) > 0
    assert "touched" not in axes.get_title()
    assert "touched a wall" in racing_line(a_drive, Lap(lap.first, lap.last, False)).axes[0].get_title()


def test_telemetry_has_a_line_for_each_lap(driven: tuple[Drive, Episode]) -> None:
    """Speed, throttle, brake and steering, of every lap that is compared."""
    a_drive = driven[0]
    figure = telemetry([(a_drive, lap) for lap in a_drive.laps])
    names = [axes.get_ylabel().split("\n")[0] for axes in figure.axes]
    assert names == ["speed", "throttle", "brake", "steering"]
    speed = np.asarray(figure.axes[0].lines[1].get_ydata())
    assert np.array_equal(speed, along(a_drive, a_drive.laps[1]).states["speed"])
    assert all(len(axes.lines) >= 2 for axes in figure.axes)


def test_lap_times_of_all_laps() -> None:
    """Filled where clean, hollow where a wall was touched; nothing completed is said."""
    episode = Episode("t", 3, lap_ticks=[600, 500, 400], clean=[True, False, True])
    axes = lap_times([("it", [episode])], "t").axes[0]
    points = {
        (round(float(x)), round(float(y), 3)): str(line.get_markerfacecolor())
        for line in axes.lines
        if line.get_marker() == "o"
        for x, y in zip(np.asarray(line.get_xdata()), np.asarray(line.get_ydata()), strict=True)
    }
    assert set(points) == {(1, 10.0), (2, 8.333), (3, 6.667)}
    assert points[2, 8.333] == "white" != points[1, 10.0] == points[3, 6.667]
    nothing = lap_times([("it", [Episode("t", 3)])], "t").axes[0]
    assert [text.get_text() for text in nothing.texts] == ["no lap completed"]


def test_the_difference_names_both(driven: tuple[Drive, Episode]) -> None:
    """Who is ahead of whom, on which track."""
    a_drive = driven[0]
    figure = time_difference((a_drive, a_drive.laps[1]), (a_drive, a_drive.laps[0]))
    title = figure.axes[0].get_title(loc="left")
    times = [f"{lap.seconds:.2f} s" for lap in a_drive.laps]
    assert title == f"scripted ({times[1]}) against scripted ({times[0]}), best laps on track-02"


@pytest.mark.parametrize("name", [r"we$\frac$ird", "_under", "a$b"])
def test_odd_names_are_shown_as_they_are(driven: tuple[Drive, Episode], tmp_path: Path, name: str) -> None:
    """They are no formulas, and a legend does not leave them out."""
    odd = Drive(**{**vars(driven[0]), "driver": name})
    assert len(save_plots(tmp_path, [odd, odd], [(name, [driven[1]])], "track-02")) == 4
    legend = telemetry([(odd, odd.laps[1])]).axes[0].get_legend()
    assert legend is not None
    assert len(legend.get_texts()) == 1


def test_the_other_line_is_on_the_map_too(driven: tuple[Drive, Episode]) -> None:
    """Dashed, with its name."""
    a_drive, (first, second) = driven[0], driven[0].laps
    axes = racing_line(a_drive, second, other=(a_drive, first)).axes[0]
    dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
    assert len(dashed) == 1
    assert len(np.asarray(dashed[0].get_xdata())) == first.last - first.first + 1


def test_a_drive_without_a_lap_has_lap_times_only(driven: tuple[Drive, Episode], tmp_path: Path) -> None:
    """There is nothing else to draw."""
    unfinished = Drive(**{**vars(driven[0]), "laps": ()})
    paths = save_plots(tmp_path, [unfinished], [("it", [Episode("track-02", 3)])], "track-02")
    assert [path.name for path in paths] == ["track-02_lap_times.png"]


@pytest.mark.slow
def test_evaluation_draws_them(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All four of a track, against the scripted driver where no other is named; nothing is said of that one's laps."""
    model = str(trained / "models" / "lap_final")
    assert evaluate.main(["--model", model, "--laps", "1", "--plot", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert "scripted" not in output
    names = {f"track-01_{name}.png" for name in ("racing_line", "telemetry", "lap_times", "difference")}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert all(f"saved {tmp_path / name}" in output for name in names)
    for path in tmp_path.iterdir():
        with Image.open(path) as picture:
            assert picture.width > 1000
            assert len(picture.convert("RGB").getcolors(1_000_000) or []) > 50


def test_two_drivers_are_compared(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each has its table; JSON has the other's beside."""
    models = ["--model", str(trained / "models" / "lap_final"), "--compare", "scripted", "--laps", "1"]
    assert evaluate.main(models) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines if "standing start" in line] == [models[1], "scripted"]
    assert evaluate.main([*models, "--json"]) == 0
    import json

    document = json.loads(capsys.readouterr().out)
    assert document["compared_with"]["model"] == "scripted"
    assert document["compared_with"]["tracks"]["track-01"]["laps"] == 1
