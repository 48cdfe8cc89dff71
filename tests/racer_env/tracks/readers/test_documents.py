"""Control points in a game's data and source."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from racer_env.errors import TrackError
from racer_env.tracks.readers import HALF, Reading, read_roads
from tests.racer_env.tracks.readers.roads import ring, write

WIDTH_IS_HALF = Reading(width_is=HALF)


def entries(width: str = "width") -> list[dict[str, Any]]:
    """Return the points of a ring as the game has them."""
    return [{"position": {"x": x, "y": y}, width: 20.0} for x, y in ring()]


@pytest.mark.parametrize(
    "point",
    [
        lambda x, y: {"position": {"x": x, "y": y}, "width": 20},
        lambda x, y: {"pos": [x, y], "halfWidth": 20},
        lambda x, y: {"x": x, "y": y, "half_width": 20},
        lambda x, y: [x, y, 20],
    ],
)
@pytest.mark.parametrize("nest", [lambda p: p, lambda p: {"controlPoints": p}, lambda p: {"track": {"points": p}}])
def test_points_of_any_form(point: Any, nest: Any, tmp_path: Path) -> None:
    """Alone, or under a key; the track is named after the file."""
    path = write(tmp_path, "mine.json", json.dumps(nest([point(x, y) for x, y in ring()])))
    (road,) = read_roads(path, WIDTH_IS_HALF)
    assert road.id == "mine"
    assert not road.is_line
    assert np.allclose(road.points, ring())
    assert road.left is not None
    assert set(road.left) == {20.0}


@pytest.mark.parametrize(
    ("document", "ids"),
    [
        ({"track-01": entries(), "track-02": entries()}, ["track-01", "track-02"]),
        ({"tracks": [{"id": "a", "points": entries()}, {"name": "B", "points": entries()}]}, ["a", "B"]),
        ([entries(), entries()], ["all-1", "all-2"]),
    ],
)
def test_several_tracks_of_a_file_have_their_own_names(document: Any, ids: list[str], tmp_path: Path) -> None:
    """Their ids, the keys that they stand under, their names, or the file's with a number."""
    roads = read_roads(write(tmp_path, "all.json", json.dumps(document)), WIDTH_IS_HALF)
    assert [road.id for road in roads] == ids


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    """And the number of gates is kept."""
    document = {"id": "a", "checkpointCount": 12, "laps": 3, "controlPoints": entries("halfWidth")}
    (road,) = read_roads(write(tmp_path, "b.json", json.dumps(document)), Reading())
    assert (road.id, road.checkpoint_count) == ("a", 12)
    assert road.said[0] == "halfWidth is taken as half of the road's width"
    assert road.said[-1] == "keys that do not shape the road were left out: laps"


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ({"x": 1, "y": 2, "width": float("nan")}, r"points\[1\]\.width must be a finite number, got nan"),
        ({"x": 1, "y": float("inf"), "width": 2}, r"points\[1\]\.y must be a finite number, got inf"),
        ({"x": "1", "y": 2, "width": 2}, r"points\[1\]\.x must be a number, got '1'"),
        ({"x": 1, "y": 2, "width": -2}, r"points\[1\]\.width must not be negative, got -2"),
        ({"x": 1, "y": 2, "width": 0}, r"points\[1\]\.width must be positive, got 0"),
        ({"x": 1, "y": 2, "width": 2, "banking": 3}, r"points\[1\] has the unknown key 'banking'; known are: x, y"),
        ({"x": 1, "width": 2}, r"points\[1\] lacks the key 'y'"),
        ({"x": 1, "y": 2}, r"points\[1\] lacks the width that the first point has"),
        ({"x": 1, "y": 2, "width": 2, "w": 2}, r"points\[1\] says twice what its width is"),
        ([1, 2, 3, 4], r"points\[1\] must be \[x, y\] or \[x, y, width\], got"),
        (None, r"points\[1\] must be a point"),
    ],
)
def test_a_wrong_point_is_refused(point: Any, message: str, tmp_path: Path) -> None:
    """With its number."""
    path = write(tmp_path, "a.json", json.dumps([{"x": 0, "y": 0, "width": 9}, point]))
    with pytest.raises(TrackError, match=message):
        read_roads(path, WIDTH_IS_HALF)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not valid JSON"),
        ("{}", r"holds no list of points; expected \{position: \{x, y\}, width\}"),
        ("[[[[[[[[[[[[[[1, 2, 3]]]]]]]]]]]]]]", "holds no list of points"),
        ("[" * 100_000, "nested too deeply"),
        (f"[[{'1' * 5000}, 2, 3]]", "holds a whole number of thousands of digits"),
        (json.dumps([entries("halfWidth")] * 101), "expected at most 100 roads in a file, got 101; split it"),
        (json.dumps(entries()), "width may be half of .* say --width-is half or --width-is full"),
    ],
)
def test_wrong_data_is_refused(text: str, message: str, tmp_path: Path) -> None:
    """In one line."""
    with pytest.raises(TrackError, match=message):
        read_roads(write(tmp_path, "a.json", text), Reading())


SOURCE = """
import { type ControlPoint } from './types'; // it's here
/* const OLD = [[1, 2, 3], */
const GREETING = `{ "x": 1 }`

export const OVAL: ControlPoint[] = [
  { position: { x: -200, y: 0.5 }, width: 20 }, // left
  { position: { x: 0, y: -1_50 }, width: 2e1 },
  { 'position': { x: 200, y: +0 }, width: 20, },
] as const

export const TRACKS: Record<string, Track> = {
  'track-02': { name: "Zwei", build() { return [1]; }, controlPoints: [[0, 0, 9], [9, 0, 9], [9, 9, 9]] satisfies P },
};
register(defineTrack([{ x: 1, y: 2, halfWidth: 3 }]));
"""


def test_literals_of_a_source_are_read(tmp_path: Path) -> None:
    """Between code, which is not run; a track is named as in the source."""
    oval, second, third = read_roads(write(tmp_path, "tracks.ts", SOURCE), WIDTH_IS_HALF)
    assert [oval.id, second.id, third.id] == ["OVAL", "track-02", "tracks"]
    assert oval.points.tolist() == [[-200, 0.5], [0, -150], [200, 0]]
    assert second.name == "Zwei"
    assert "defineTrack() around them was not run" in third.said[-1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("const A = [{ position: vec(1, 2), width: 20 }]", r"position is 'vec \( 1 , 2 \)' in line 1; code is not run"),
        ("const A = [\n[1, 2 * SCALE, 3], [4, 5, 6]]", r"points\[0\]\.y is '2 \* SCALE' in line 2; code is not run"),
        ("const A = [[1, 2, 3], ...OTHERS]", r"points\[1\] is '. . . OTHERS' in line 1; code"),
        (
            "const A = [[1, 2, 3], [4, 5, 6]].map(scaled)",
            r"code changes the list of points: '. map \( scaled \)' in line 1",
        ),
        ("const A = {b: [[1, 2, 3], [4, 5, 6]].map(scaled)}", "code changes the list of points"),
        ("const A = make(1, 2)", "holds no list of points that can be read without running it; expected"),
        ("[" * 50_000 + "]" * 50_000, "holds no list of points that can be read"),
        ("/*" * 100_000 + "'" * 100_000, "holds no list of points that can be read"),
    ],
)
def test_code_is_not_run(text: str, message: str, tmp_path: Path) -> None:
    """What cannot be read without running it is named with its line."""
    with pytest.raises(TrackError, match=message):
        read_roads(write(tmp_path, "a.ts", text), WIDTH_IS_HALF)
