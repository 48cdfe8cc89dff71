"""Finding, loading and checking track files."""

import itertools
import json
import math
import re
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from racer_env.errors import TrackError
from racer_env.project import DEFAULT_TRACKS_DIR
from racer_env.tracks import Track, available_tracks, check_track, load_track, load_tracks, parse_track
from racer_env.tracks import checks as tracks_module
from tests.helpers import TRACK_IDS, ring_document, track_document, with_value, without

# Control points that make one thing wrong each, found by trying.
INNER_CROSSES = [(-137, 424, 20), (-530, 280, 20), (-1423, -379, 20)]
OUTER_CROSSES = [(-174, 89, 5), (-67, -37, 5), (-63, -247, 5), (-19, -230, 5)]
WALLS_CROSS = [(-1141, 1567, 60), (-791, 1001, 60), (-643, 237, 60), (125, -1382, 60)]
SHARP_TRIANGLE = [(0, 0, 10), (4000, 0, 10), (2000, 3000, 10)]  # its corners lie outside the smoothed walls


def write_track(path: Path, document: Any = None) -> Path:
    """Write a track file, the ring by default, and return its path."""
    path.write_text(json.dumps(ring_document() if document is None else document))
    return path


def signed_area(track: Track) -> float:
    """Return the area within the centre line, positive when it runs counter-clockwise."""
    x, y = track.geometry.centre_line.point_at(np.arange(0.0, track.length, 1.0)).T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2


def test_ring_is_a_track() -> None:
    """A valid document gives a track with its content."""
    track = parse_track(ring_document(radius=200, half_width=20, count=12))
    assert (track.id, track.name, track.checkpoint_count) == ("test", "Test", 30)
    assert track.points.shape == (12, 2)
    assert track.half_widths.tolist() == [20.0] * 12
    assert track.length == pytest.approx(2 * math.pi * 200, rel=5e-3)


def test_document_round_trips() -> None:
    """``to_json`` gives the document back."""
    assert parse_track(ring_document()).to_json() == ring_document()


@pytest.mark.parametrize("track_id", ["a", "track-01", "Große Runde (2)", "a.b_c+d", "x" * 100])
def test_any_name_of_a_file_is_an_id(track_id: str) -> None:
    """In any language."""
    assert parse_track(with_value(ring_document(), track_id, "id")).id == track_id


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "the track must be an object, got list"),
        (without(ring_document(), "name"), "the track lacks the key 'name'"),
        (without(ring_document(), "controlPoints"), "the track lacks the key 'controlPoints'"),
        (with_value(ring_document(), 1, "laps"), "unknown key 'laps' in the track; allowed: id, name"),
        (with_value(ring_document(), "", "id"), "id must be a non-empty string, got ''"),
        *(
            (with_value(ring_document(), bad, "id"), "id must be up to 100 letters, digits, blanks and ")
            for bad in (
                "../up",
                "a/b",
                "a\\b",
                "C:",
                ".hidden",
                "end.",
                "two\nlines",
                "\0",
                "\ud800",
                "x" * 101,
                "ö" * 51,
            )
        ),
        (with_value(ring_document(), 7, "name"), "name must be a non-empty string, got 7"),
        (with_value(ring_document(), 1, "checkpointCount"), "checkpointCount must be at least 2, got 1"),
        (with_value(ring_document(), 2.5, "checkpointCount"), r"checkpointCount must be a whole number, got 2\.5"),
        (with_value(ring_document(), True, "checkpointCount"), "checkpointCount must be a number, got True"),
        (with_value(ring_document(), {}, "controlPoints"), "controlPoints must be a list, got dict"),
        (track_document([(0, 0, 9), (9, 9, 9)]), "controlPoints must hold 3 to 1,000 points, got 2"),
        (ring_document(count=1_001), "controlPoints must hold 3 to 1,000 points, got 1,001"),
    ],
)
def test_wrong_document_is_refused(document: Any, message: str) -> None:
    """The error names the key, what was expected and what came."""
    with pytest.raises(TrackError, match=f"^track: {message}"):
        parse_track(document)


@pytest.mark.parametrize(
    ("value", "key", "message"),
    [
        (0, "halfWidth", r"controlPoints\[3\]\.halfWidth must be positive, got 0"),
        (-4.5, "halfWidth", r"controlPoints\[3\]\.halfWidth must be positive, got -4\.5"),
        (float("nan"), "x", r"controlPoints\[3\]\.x must be a finite number, got nan"),
        (float("-inf"), "y", r"controlPoints\[3\]\.y must be a finite number, got -inf"),
        (True, "x", r"controlPoints\[3\]\.x must be a number, got True"),
        ("20", "halfWidth", r"controlPoints\[3\]\.halfWidth must be a number, got '20'"),
        (1, "z", r"unknown key 'z' in controlPoints\[3\]; allowed: x, y, halfWidth"),
    ],
)
def test_wrong_control_point_is_refused(value: Any, key: str, message: str) -> None:
    """The error names the point's number and the key."""
    with pytest.raises(TrackError, match=message):
        parse_track(with_value(ring_document(), value, "controlPoints", 3, key))


def test_control_point_lacks_a_key() -> None:
    """A point without a coordinate is refused with its number."""
    with pytest.raises(TrackError, match=r"controlPoints\[3\] lacks the key 'y'"):
        parse_track(without(ring_document(), "controlPoints", 3, "y"))


def test_control_point_must_be_an_object() -> None:
    """A point written as a list is refused."""
    with pytest.raises(TrackError, match=r"controlPoints\[3\] must be an object, got list"):
        parse_track(with_value(ring_document(), [1, 2, 3], "controlPoints", 3))


@pytest.mark.parametrize(("first", "second"), [(4, 5), (0, 11), (2, 7)])
def test_repeated_control_point_is_refused(first: int, second: int) -> None:
    """Two points at one place are refused, neighbours or not; the loop closes by itself."""
    document = ring_document()
    document["controlPoints"][second] = dict(document["controlPoints"][first], halfWidth=9)
    with pytest.raises(TrackError, match=rf"controlPoints\[{second}\] repeats controlPoints\[{first}\]"):
        parse_track(document)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (INNER_CROSSES, r"the inner wall crosses itself near \(-?\d+, -?\d+\)"),
        (OUTER_CROSSES, r"the outer wall crosses itself near \(-?\d+, -?\d+\)"),
        (WALLS_CROSS, r"the inner and outer wall cross near \(-?\d+, -?\d+\)"),
        (SHARP_TRIANGLE, r"the start \(0, 0\), which is controlPoints\[0\], is off the road"),
        ([(2000, 0, 10), *SHARP_TRIANGLE[1:], SHARP_TRIANGLE[0]], r"gate 5 near \(3919, -78\) cannot be crossed"),
    ],
)
def test_track_that_cannot_be_driven_is_refused(points: list[tuple[float, float, float]], message: str) -> None:
    """Crossing walls, a start off the road and an unreachable gate are refused, and named with their place."""
    with pytest.raises(TrackError, match=message):
        parse_track(track_document(points))


def test_no_gate_of_a_simple_road_is_missed() -> None:
    """Wherever the points of the test drive fall: gate 0 is where the lap ends, and others are hit exactly."""
    for width, narrower, gates in itertools.product(range(150, 310, 10), (20, 10, 0), (8, 20, 30)):
        points = [(width, 0, 20), (0, width - narrower, 20), (-width, 0, 20), (0, narrower - width, 20)]
        parse_track(dict(track_document(points), checkpointCount=gates))


@pytest.mark.parametrize(
    ("points", "gates", "gate"),
    [
        ([(-195, -15, 20), (160, 165, 20), (-110, -5, 20)], 31, 16),  # crossed backwards only
        ([(-200, -180, 41), (-5, 180, 41), (-75, -95, 41)], 22, 12),  # crossed before the one in front of it
    ],
)
def test_every_gate_is_crossed_forwards_and_in_its_turn(
    points: list[tuple[float, float, float]], gates: int, gate: int
) -> None:
    """A car on the centre line must collect them all; where the walls fold, some gates stand across."""
    document = dict(track_document(points), checkpointCount=gates)
    with pytest.raises(TrackError, match=rf"gate {gate} near .* cannot be crossed"):
        parse_track(document)


@pytest.mark.parametrize("points", [WALLS_CROSS, SHARP_TRIANGLE])
def test_track_from_elsewhere_is_checked_alike(points: list[tuple[float, float, float]]) -> None:
    """As one from a file is."""
    document = track_document(points)
    with pytest.raises(TrackError) as of_file:
        parse_track(document, "test")
    with pytest.raises(TrackError) as of_track:
        check_track(parse_track(document, must_be_drivable=False))
    assert str(of_track.value) == str(of_file.value)


def crosses(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> bool:
    """Return whether two segments cross, from the sides on which their ends lie."""

    def side(start: np.ndarray, end: np.ndarray, point: np.ndarray) -> float:
        return float((end - start)[0] * (point - start)[1] - (end - start)[1] * (point - start)[0])

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0


@pytest.mark.parametrize("is_same", [True, False])
def test_first_crossing_is_what_every_pair_of_segments_says(is_same: bool) -> None:
    """Lines are compared by boxes around runs of their segments, of which the last run is shorter."""
    random, found = np.random.default_rng(3), []
    for count in [*range(5, 40)] * 2:
        angle = np.linspace(0, 2 * math.pi, count + 1)[:-1] + random.normal(0, 3.6 / count, (2, count))
        rings = np.stack([np.cos(angle), np.sin(angle)], axis=2) * (
            np.array([1.0, 0.9])[:, None, None] + random.normal(0, 0.05, (2, 1, 2))
        )
        line, other = (np.concatenate([ring, ring[:1]]) for ring in rings)
        other = line if is_same else other
        pairs = [
            (one, two)
            for one in range(count)
            for two in range(count)
            if not (is_same and (two - one) % count in (count - 1, 0, 1))
        ]
        met = [one for one, two in pairs if crosses(line[one], line[one + 1], other[two], other[two + 1])]
        found.append(bool(met))
        where = tracks_module.first_crossing(line, None if is_same else other)
        assert (where is None) == (not met)
        assert where is None or where.tolist() == line[min(met)].tolist()
    assert 5 < sum(found) < len(found) - 5


def test_a_ball_of_a_road_is_refused_in_little_memory() -> None:
    """Nearly every segment is near every other one, so the pairs are looked at in parts."""
    scattered = np.random.default_rng(1).random((400, 2)) * 5
    document = track_document([(x, y, 20.0) for x, y in scattered.tolist()])
    tracemalloc.start()
    with pytest.raises(TrackError, match="wall crosses itself"):
        parse_track(document)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6


def test_drivable_check_can_be_left_out() -> None:
    """What the game itself drives on is taken as it is when asked for."""
    track = parse_track(track_document(INNER_CROSSES), must_be_drivable=False)
    assert track.points.shape == (3, 2)


def test_too_many_gates_are_refused() -> None:
    """Gates must be further apart than a car moves in a tick; the error names the most that fit."""
    document = ring_document()
    most = int(parse_track(document).length / (160 / 60))
    with pytest.raises(TrackError, match=rf"checkpointCount {most + 1} puts gates .* use at most {most}"):
        parse_track(with_value(document, most + 1, "checkpointCount"))


def test_most_gates_are_accepted() -> None:
    """The number of gates that the error names is accepted, as far as their distance goes."""
    document = ring_document()
    most = int(parse_track(document).length / (160 / 60))
    parse_track(with_value(document, most, "checkpointCount"), must_be_drivable=False)


def test_too_long_a_track_is_refused() -> None:
    """A track beyond the simulator's reach is refused with its length and the limit."""
    with pytest.raises(TrackError, match=r"the track is 15,529 units long; the most is 15000"):
        parse_track(ring_document(radius=2500.0))


def test_longest_tracks_are_accepted() -> None:
    """A track just below the limit is accepted."""
    assert parse_track(ring_document(radius=2400.0)).length > 14_900


def test_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    """The error names the file, line and column."""
    path = tmp_path / "broken.json"
    path.write_text('{"id": "x",\n oops}')
    with pytest.raises(TrackError, match=r"track file .*broken\.json is not valid JSON: .* at line 2, column 2"):
        load_track(path)


def test_error_names_the_file(tmp_path: Path) -> None:
    """An error in a file begins with its path."""
    path = write_track(tmp_path / "mine.json", without(ring_document(), "id"))
    with pytest.raises(TrackError, match=f"^{re.escape(str(path))}: the track lacks the key 'id'"):
        load_track(path)


def test_unknown_id_names_what_exists() -> None:
    """An id without a file is an error that lists the ids there are."""
    with pytest.raises(TrackError, match=r"no track 'track-99' in .*; there are: track-01, track-02, track-03"):
        load_track("track-99")


def test_unknown_id_names_what_exists_in_both_folders(tmp_path: Path) -> None:
    """With a folder of one's own, the error lists its ids and the shipped ones."""
    write_track(tmp_path / "mine.json")
    with pytest.raises(TrackError, match=f"no track 'x' in {re.escape(str(tmp_path))} or .*: mine, track-01, track-02"):
        load_track("x", tmp_path)


def test_missing_file_is_named() -> None:
    """A path without a file is an error with the path."""
    with pytest.raises(TrackError, match=r"track file not found: .*absent\.json"):
        load_track("absent.json")


@pytest.mark.parametrize("name", ["track-01", "procedural-1-0", "some.json"])
def test_missing_folder_is_named(name: str, tmp_path: Path) -> None:
    """A folder that does not exist is an error with its path, also where no file is looked for in it."""
    with pytest.raises(TrackError, match=r"tracks folder not found: .*absent"):
        load_track(name, tmp_path / "absent")


def test_empty_folder_is_named(tmp_path: Path) -> None:
    """A folder without a track is an error with its path."""
    with pytest.raises(TrackError, match=r"no track files \(\*\.json\) in "):
        available_tracks(tmp_path)


def test_track_is_found_by_id() -> None:
    """An id finds the shipped file."""
    assert load_track("track-02").id == "track-02"


@pytest.mark.parametrize("kind", [str, Path])
def test_track_is_found_by_path(tmp_path: Path, kind: type) -> None:
    """A path finds its file, as a string and as a Path."""
    path = write_track(tmp_path / "mine.json")
    assert load_track(kind(path)).name == "Test"


def test_track_is_found_in_a_folder(tmp_path: Path) -> None:
    """A folder of one's own is looked through first, and the shipped tracks stay in reach."""
    write_track(tmp_path / "track-01.json")
    assert load_track("track-01", tmp_path).name == "Test"
    assert load_track("track-02", tmp_path).id == "track-02"


def test_all_stands_for_every_track() -> None:
    """'all' loads the shipped tracks in order of id."""
    assert [track.id for track in load_tracks(["all"])] == list(TRACK_IDS)


def test_all_stands_for_a_folder(tmp_path: Path) -> None:
    """'all' with a folder loads the folder's tracks only."""
    for name in ("b", "a"):
        write_track(tmp_path / f"{name}.json", with_value(ring_document(), name, "id"))
    assert [track.id for track in load_tracks(["all"], tmp_path)] == ["a", "b"]


@pytest.mark.parametrize("names", [["track-01", "track-02", "track-01"], ["all", "track-01"]])
def test_track_named_twice_is_refused(names: list[str]) -> None:
    """A track may be named once, also beside 'all'."""
    with pytest.raises(TrackError, match="track-01 and track-01 are both the track 'track-01'"):
        load_tracks(names)


def test_shipped_tracks_are_available() -> None:
    """The three shipped tracks are in the project's folder."""
    assert available_tracks() == list(TRACK_IDS)
    assert available_tracks(DEFAULT_TRACKS_DIR) == list(TRACK_IDS)


@pytest.mark.parametrize(
    ("index", "lengths", "half_widths"),
    [(0, (1150, 1300), (24, 26)), (1, (2400, 2900), (22, 30)), (2, (2700, 3100), (12, 24))],
)
def test_shipped_track_has_its_size(
    tracks: list[Track], index: int, lengths: tuple[float, float], half_widths: tuple[float, float]
) -> None:
    """Each shipped track is as long and as wide as it is described."""
    track = tracks[index]
    assert lengths[0] <= track.length <= lengths[1]
    assert half_widths[0] <= track.half_widths.min() <= track.half_widths.max() <= half_widths[1]


def test_shipped_tracks_run_in_both_directions(tracks: list[Track]) -> None:
    """The second track runs clockwise, the others counter-clockwise, so that neither side is favoured."""
    assert [signed_area(track) > 0 for track in tracks] == [True, False, True]


def test_fingerprint_ignores_id_and_name() -> None:
    """Two files of one road have one fingerprint."""
    other = with_value(with_value(ring_document(), "other", "id"), "Other", "name")
    assert parse_track(other).fingerprint == parse_track(ring_document()).fingerprint


@pytest.mark.parametrize("keys", [("checkpointCount",), ("controlPoints", 2, "x"), ("controlPoints", 2, "halfWidth")])
def test_fingerprint_depends_on_the_road(keys: tuple[Any, ...]) -> None:
    """Another number of gates, place or width is another road."""
    value: Any = ring_document()
    for key in keys:
        value = value[key]
    other = parse_track(with_value(ring_document(), value + 1, *keys))
    assert other.fingerprint != parse_track(ring_document()).fingerprint
