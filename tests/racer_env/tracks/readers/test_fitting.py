"""Tracks of roads from elsewhere."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from racer_env.errors import TrackError
from racer_env.project import DEFAULT_TRACKS_DIR, PROJECT_ROOT
from racer_env.tracks import Track, load_track
from racer_env.tracks.readers import Reading, make_track, read_roads
from racer_env.tracks.readers.fitting import TOLERANCE
from tests.racer_env.tracks.readers.roads import Row, csv_text, ring, ring_rows, write


def track_of(path: Path, reading: Reading | None = None) -> tuple[Track, list[str]]:
    """Return the only track of a file, and what was said."""
    reading = Reading() if reading is None else reading
    (road,) = read_roads(path, reading)
    return make_track(road, reading)


def test_the_project_s_own_tracks_stay_as_they_are() -> None:
    """To the last digit."""
    track, said = track_of(DEFAULT_TRACKS_DIR / "track-02.json")
    assert (track.id, track.fingerprint) == ("track-02", load_track("track-02").fingerprint)
    assert said == []


def test_a_line_is_scaled_and_followed(tmp_path: Path) -> None:
    """By fewer control points than it has, no farther away than is said."""
    track, said = track_of(write(tmp_path, "ring.csv", csv_text(ring_rows(count=500))), Reading(scale=1.5))
    distance = np.hypot(*track.geometry.centre_line.point_at(np.arange(0.0, track.length, 1.0)).T)
    assert np.abs(distance - 300).max() < TOLERANCE
    assert track.length == pytest.approx(2 * math.pi * 300, rel=1e-3)
    assert set(track.half_widths) == {21.0}
    assert len(track.points) < 50
    assert f"500 points became {len(track.points)} control points, whose line is at most 0." in said[-1]


def test_the_line_is_moved_to_the_middle_of_the_edges(tmp_path: Path) -> None:
    """The right edge of a counter-clockwise ring is the outer one."""
    track, said = track_of(write(tmp_path, "ring.csv", csv_text(ring_rows(right=20.0, left=10.0, count=200))))
    distance = np.hypot(*track.geometry.centre_line.point_at(np.arange(0.0, track.length, 1.0)).T)
    assert np.abs(distance - 205).max() < TOLERANCE
    assert set(track.half_widths) == {15.0}
    assert said[0] == "the centre line was moved to the middle of the edges, by up to 5.00 units"


def test_a_last_point_that_repeats_the_first_is_left_out(tmp_path: Path) -> None:
    """In lines and among control points."""
    rows = ring_rows()
    line, said = track_of(write(tmp_path, "a.csv", csv_text([*rows, rows[0]])))
    assert said[0] == "points that repeat the one after them were left out: 1"
    assert line.fingerprint == track_of(write(tmp_path, "b.csv", csv_text(rows)))[0].fingerprint
    points = write(tmp_path, "a.json", json.dumps([row[:3] for row in [*rows, rows[0]]]))
    track, said = track_of(points, Reading(width_is="half"))
    assert len(track.points) == len(rows)
    assert said == ["points that repeat the one after them were left out: 1"]


EIGHT: list[Row] = [
    (500 * math.sin(angle), 300 * math.sin(2 * angle), 12, 12) for angle in np.arange(0, 2 * math.pi, 0.1).tolist()
]


@pytest.mark.parametrize(
    ("rows", "scale", "message"),
    [
        (
            ring_rows()[:16],
            1.0,
            r"the road is open: .* between its last and its first point, where others are at most 52",
        ),
        (ring_rows()[:2], 1.0, "expected at least 3 different points, got 2"),
        ([(1.0, 2.0, 3.0, 4.0)] * 9, 1.0, "expected at least 3 different points, got 0"),
        (
            ring_rows(),
            20.0,
            r"the road is 25,\d+ units long; the most is 15,000, so take a --scale of 11\.9\d* at most",
        ),
        (EIGHT, 1.0, r"the road crosses itself near \(-?\d+, -?\d+\), which no track may"),
        (ring_rows(radius=9.0), 1.0, "take a --scale (of [0-9.]+, which is enough|above 1, as)|control points leave"),
    ],
)
def test_roads_that_are_no_tracks_are_refused(rows: list[Row], scale: float, message: str, tmp_path: Path) -> None:
    """With what to do."""
    with pytest.raises(TrackError, match=message):
        track_of(write(tmp_path, "a.csv", csv_text(rows)), Reading(scale=scale))


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_the_scale_that_is_enough_is_named(suffix: str, tmp_path: Path) -> None:
    """Where walls meet, as they stand as far beyond a small road as beyond a large one."""
    rows = [(120 * x, 60 * y, 14.0, 14.0) for x, y in ring(1.0)]
    text = csv_text(rows) if suffix == ".csv" else json.dumps([row[:3] for row in rows])
    path = write(tmp_path, f"a{suffix}", text)
    with pytest.raises(TrackError, match="take a --scale of") as refused:
        track_of(path, Reading(width_is="half"))
    named = re.search(r"--scale of ([0-9.]+), which is enough", str(refused.value))
    assert named is not None
    assert 1.0 < float(named[1]) < 3.0
    track_of(path, Reading(width_is="half", scale=float(named[1])))


def test_control_points_that_cross_are_refused(tmp_path: Path) -> None:
    """As lines are."""
    path = write(tmp_path, "a.json", json.dumps([row[:3] for row in EIGHT]))
    with pytest.raises(TrackError, match="the road crosses itself"):
        track_of(path, Reading(width_is="half"))


def test_the_example_is_as_long_as_the_real_circuit() -> None:
    """5,793 m, a tenth of a percent more or less."""
    track, _ = track_of(PROJECT_ROOT / "examples" / "circuit.csv", Reading(scale=1.5))
    assert track.length / 1.5 == pytest.approx(5_793, rel=1e-3)


@pytest.mark.parametrize(("wide", "half_width"), [(None, 500.0), (None, 10_000.0), (800.0, None)])
def test_a_road_that_fills_its_loop_is_refused(wide: float | None, half_width: float | None, tmp_path: Path) -> None:
    """Nothing would be left inside, whether the file or --half-width says so."""
    rows = ring_rows(left=wide or 14.0, right=wide or 14.0, radius=85.0)
    path = write(tmp_path, "a.csv", csv_text(rows))
    with pytest.raises(TrackError, match=r"leaves nothing inside such a loop; take half-widths below 8[45]\."):
        track_of(path, Reading(half_width=half_width))


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("all", "all tracks of a folder"),
        ("scripted.json", "the path of a file"),
        ("procedural:3", "a set of generated tracks"),
        ("procedural-7-12", "a generated track"),
    ],
)
def test_names_that_mean_something_else_are_refused(name: str, meaning: str, tmp_path: Path) -> None:
    """As --track-id could not name the track again."""
    (road,) = read_roads(write(tmp_path, "a.csv", csv_text(ring_rows())), Reading())
    road.id = name
    with pytest.raises(TrackError, match=f"no track can have the id '{name}', as --track-id takes it for {meaning};"):
        make_track(road, Reading())


@pytest.mark.parametrize(
    ("radius", "advice"), [(9.87e6, r"take a --scale of 0\.000242 at most"), (1e9, "no --scale is small enough")]
)
def test_a_scale_that_would_do_is_never_zero(radius: float, advice: str, tmp_path: Path) -> None:
    """It is named to three digits, and only if it is allowed."""
    (road,) = read_roads(write(tmp_path, "a.csv", csv_text(ring_rows())), Reading())
    road.points *= radius / 200
    with pytest.raises(TrackError, match=advice):
        make_track(road, Reading())
