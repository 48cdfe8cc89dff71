"""Plots of drives: what they show is what was driven."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from racer_env.config import AiConfig
from racer_env.tracks import Track
from tests.runs import drive
from training import evaluate
from training.drivers.scripted import scripted_driver
from training.drives.along import along, braking_points
from training.drives.corners import corners_of
from training.drives.plots import lap_times, racing_line, save_plots, telemetry, time_difference
from training.drives.recording import Drive, Lap, record_episode
from training.evaluation.episode import Episode

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(scope="module")
def driven(tracks: list[Track]) -> tuple[Drive, Episode]:
    """Two laps of the scripted driver, which brakes, on the second track."""
    (episode,) = drive(scripted_driver, [tracks[1]], config=AiConfig(), laps=2, keeps_actions=True)
    return record_episode("scripted", tracks[1], episode).drive, episode


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


def flat_out(driven: tuple[Drive, Episode]) -> tuple[Drive, Lap]:
    """Return a lap at one speed, with the throttle all but open, and steering as it was."""
    a_drive, lap = driven[0], driven[0].laps[1]
    states = a_drive.states.copy()
    states["speed"], states["throttle"], states["brake"] = 160.0, 0.999, 0.0
    return Drive(**{**vars(a_drive), "states": states}), lap


def test_what_never_changes_has_no_panel(driven: tuple[Drive, Episode]) -> None:
    """It is said below steering; if it changes on one of the laps, it has one."""
    steady, lap = flat_out(driven)
    (axes,) = telemetry([(steady, lap)]).axes
    assert axes.get_ylabel() == "steering"
    assert axes.get_xlabel().split("\n")[1] == "all the way: speed 160 units/s, throttle 0.999, brake 0"
    figure = telemetry([(steady, lap), (driven[0], lap)])
    assert len(figure.axes) == 4
    assert "all the way" not in figure.axes[-1].get_xlabel()


def test_steering_is_the_largest_panel_and_fills_it(driven: tuple[Drive, Episode]) -> None:
    """The axis ends a little beyond what was steered, on both sides alike."""
    steady, lap = flat_out(driven)
    steady.states["steer"] = 0.5 * np.sin(np.arange(len(steady.states)))
    figure = telemetry([(driven[0], lap), (steady, lap)])
    figure.draw_without_rendering()
    heights = {axes.get_ylabel().split("\n")[0]: axes.get_position().height for axes in figure.axes}
    assert max(heights, key=lambda name: heights[name]) == "steering"
    low, high = telemetry([(steady, lap)]).axes[0].get_ylim()
    assert (low, high) == pytest.approx((-0.575, 0.575), abs=0.01)


def test_corners_have_bands_and_numbers(driven: tuple[Drive, Episode]) -> None:
    """In every panel over distance, on the gap, and on the map."""
    a_drive, (first, second) = driven[0], driven[0].laps
    corners, length = corners_of(a_drive.track), a_drive.track.length
    names = ["corner 1", *(str(corner.number) for corner in corners[1:])]
    figures = [telemetry([(a_drive, second)]), time_difference((a_drive, second), (a_drive, first))]
    for figure in figures:
        for axes in figure.axes:
            bands = [band for band in axes.patches if band.get_x() < length]  # type: ignore[attr-defined]
            assert [band.get_x() for band in bands] == [corner.first for corner in corners]  # type: ignore[attr-defined]
        (top,) = figure.axes[0].child_axes
        assert [label.get_text() for label in top.get_xticklabels()] == names
    on_map = [text.get_text() for text in racing_line(a_drive, second).axes[0].texts]
    assert on_map == [str(corner.number) for corner in corners]


def test_a_first_lap_does_not_hide_the_others() -> None:
    """The axis spans the laps after it; its time is written at the top."""
    ones = [Episode("t", 3, lap_ticks=[ticks, 384, 381], clean=[True] * 3) for ticks in (486, 492)]
    others = [Episode("t", 3, lap_ticks=[390, 384, 382], clean=[True] * 3)]
    axes = lap_times([("it", ones), ("other", others)], "t").axes[0]
    assert axes.get_ylim()[0] < 381 / 60
    assert 384 / 60 < axes.get_ylim()[1] < 390 / 60 + 0.1
    assert [text.get_text() for text in axes.texts] == ["first lap 8.10 to 8.20 s"]


@pytest.mark.parametrize("is_clean", [True, False])
def test_a_first_lap_beyond_the_axis_is_hollow_if_it_touched_a_wall(is_clean: bool) -> None:
    """As the laps within."""
    episode = Episode("t", 3, lap_ticks=[486, 384, 381], clean=[is_clean, True, True])
    (mark,) = (line for line in lap_times([("it", [episode])], "t").axes[0].lines if line.get_marker() == "^")
    assert (mark.get_markerfacecolor() != "white") == is_clean


def test_first_laps_alone_are_drawn() -> None:
    """Where no lap follows, there is nothing that they hide."""
    axes = lap_times([("it", [Episode("t", 1, lap_ticks=[486], clean=[True])])], "t").axes[0]
    assert axes.get_ylim()[0] < 8.1 < axes.get_ylim()[1]
    assert not axes.texts


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
    """Who is compared with whom, on which track; the axis says what it shows."""
    a_drive = driven[0]
    figure = time_difference((a_drive, a_drive.laps[1]), (a_drive, a_drive.laps[0]))
    title = figure.axes[0].get_title(loc="left")
    times = [f"{lap.seconds:.2f} s" for lap in a_drive.laps]
    assert title == f"scripted ({times[1]}) against the reference scripted ({times[0]}), best laps on track-02"
    assert figure.axes[0].get_ylabel().split("\n")[0] == "gap to reference (s)"


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
