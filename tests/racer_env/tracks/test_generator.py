"""Generated tracks: the same from the same seed, drivable, and as their kind says."""

import dataclasses
import json
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from racer_env.errors import TrackError
from racer_env.tracks import Track, load_track, load_tracks, names, parse_track, shapes
from racer_env.tracks import generator as track_generator
from racer_env.tracks.generator import generate_track, track_of_name
from racer_env.tracks.geometry import CentreLine
from racer_env.tracks.names import HARD, NORMAL, OVAL, expand_names
from racer_env.tracks.shapes import KINDS
from racer_env.vec_env import RacerVecEnv
from tests.helpers import ring_document
from training import evaluate
from training.console.arguments import add_track_arguments
from training.console.parser import Parser

pytestmark = pytest.mark.timeout(30)

COUNT = 12


@pytest.fixture(scope="module", params=list(KINDS))
def generated(request: pytest.FixtureRequest) -> list[Track]:
    """Some tracks of each kind."""
    return [generate_track(3, number, request.param) for number in range(COUNT)]


def kind_of(track: Track) -> track_generator.Kind:
    """Return the kind that a track's name says."""
    return KINDS[names.kind_of(track.id) or ""]


def test_the_same_name_is_the_same_track() -> None:
    """Whatever was made before; another number, seed or kind is another track."""
    one = generate_track(7, 2)
    assert track_of_name("procedural-7-2").fingerprint == one.fingerprint == load_track("procedural-7-2").fingerprint
    others = [generate_track(7, 3), generate_track(8, 2), *(generate_track(7, 2, kind) for kind in (HARD, OVAL))]
    assert len({track.fingerprint for track in [one, *others]}) == 5


@pytest.mark.parametrize(("kind", "numbers"), [(NORMAL, range(6)), (HARD, (117, 123, 197, 227, 395))])
def test_rounding_makes_no_other_track(kind: str, numbers: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Processors round the last bits differently; those hard ones are drawn with roads that are partly straight."""
    expected = [generate_track(0, number, kind) for number in numbers]
    noise = np.random.default_rng(0)
    exact = track_generator._rounded_shape

    def rounded_otherwise(random: np.random.Generator, rules: track_generator.Kind) -> npt.NDArray[np.float64]:
        shape = exact(random, rules)
        return shape + noise.normal(0, 1e-15, shape.shape)

    monkeypatch.setattr(track_generator, "_rounded_shape", rounded_otherwise)
    for _ in range(8):
        assert [load_track(track.id).fingerprint for track in expected] == [track.fingerprint for track in expected]


def test_lengths_and_widths(generated: list[Track]) -> None:
    """Within what the kind allows; constant and varying widths both occur."""
    shortest, longest = kind_of(generated[0]).length
    low, high = kind_of(generated[0]).half_width
    for track in generated:
        assert shortest <= track.length <= longest + 0.1
        assert low - 1e-3 <= track.half_widths.min() <= track.half_widths.max() <= high + 1e-3
    varying = [np.ptp(track.half_widths) > 0.5 for track in generated]
    assert any(varying)
    assert not all(varying)


def least_radius(line: CentreLine) -> float:
    """Return the least radius of circles through three points of a line half a unit apart."""
    at = np.arange(0.0, line.total_length, 0.25)
    a, b, c = (line.point_at(at + offset) for offset in (-0.5, 0.0, 0.5))
    cross = (b - a)[:, 0] * (c - b)[:, 1] - (b - a)[:, 1] * (c - b)[:, 0]
    sides = [np.hypot(*(q - p).T) for p, q in ((a, b), (b, c), (a, c))]
    return float((sides[0] * sides[1] * sides[2] / np.maximum(2 * np.abs(cross), 1e-9)).min())


def test_curves_are_as_tight_as_the_kind_says(generated: list[Track]) -> None:
    """Measured on the finished line, by circles through its points."""
    low, high = kind_of(generated[0]).radius
    tightest = [least_radius(track.geometry.centre_line) for track in generated]
    assert 0.98 * low < min(tightest) <= max(tightest) < 1.04 * high


def test_hard_curves_are_of_all_radii() -> None:
    """Not only as tight as a wall around a long curve allows: short ones are tighter."""
    tightest = [least_radius(generate_track(3, number, HARD).geometry.centre_line) for number in range(2 * COUNT)]
    assert min(tightest) < 11
    assert sum(11 < radius < 17 for radius in tightest) > COUNT / 3
    assert max(tightest) > 18


def test_the_least_radius_is_that_of_the_curvature(generated: list[Track]) -> None:
    """Circles through ever closer points come to the same."""
    for track in generated:
        line = track.geometry.centre_line
        assert track_generator._least_radius(line) == pytest.approx(least_radius(line), rel=0.04)


def test_the_least_radius_is_the_same_both_ways(generated: list[Track]) -> None:
    """A road is as tight in the one direction as in the other."""
    for track in generated:
        backwards = CentreLine(track.points[::-1].copy(), track.half_widths[::-1].copy())
        here = track_generator._least_radius(track.geometry.centre_line)
        assert track_generator._least_radius(backwards) == pytest.approx(here, rel=1e-9)


def test_the_least_radius_misses_little(generated: list[Track]) -> None:
    """Between the points where it is measured, the line bends hardly more; the generator allows for that much."""
    parameters = np.linspace(0, 1, 1_001)
    first = np.stack([3 * parameters**2, 2 * parameters, parameters**0], axis=1)
    second = np.stack([6 * parameters, 2 * parameters**0], axis=1)
    for track in generated:
        line = track.geometry.centre_line
        vx, vy = np.moveaxis(first @ line.coefficients[:, :3], 2, 0)
        ax, ay = np.moveaxis(second @ line.coefficients[:, :2], 2, 0)
        radius = ((vx**2 + vy**2) ** 1.5 / np.maximum(np.abs(vx * ay - vy * ax), 1e-9)).min()
        measured = track_generator._least_radius(line)
        assert 0.999999 * radius <= measured <= track_generator._RADIUS_MARGIN * radius
        assert radius >= kind_of(track).radius[0]


def test_a_road_of_another_radius_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """What sharp corners come to decides, not what they were drawn as."""
    rules = dataclasses.replace(KINDS[HARD], sharp_corners=(1, 2), radius=(11.0, 12.0))
    monkeypatch.setitem(KINDS, HARD, rules)
    for number in range(COUNT // 2):
        line = generate_track(3, number, HARD).geometry.centre_line
        assert 11 <= track_generator._least_radius(line) <= 12


def test_a_road_that_sharp_corners_make_too_short_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """They cut it by a few units."""
    rules = dataclasses.replace(KINDS[HARD], sharp_corners=(3, 4), length=(1_700.0, 1_710.0))
    monkeypatch.setitem(KINDS, HARD, rules)
    assert all(generate_track(3, number, HARD).length >= 1_700 for number in range(COUNT))


def two_corners(angle: float, length: float) -> npt.NDArray[np.float64]:
    """Return 24 control points ``length`` apart that turn by ``angle`` degrees at 6 and 18, and evenly at the rest."""
    turns = np.full(24, (360.0 - 2 * angle) / 22)
    turns[[6, 18]] = angle
    heading = np.radians(np.cumsum(turns))
    steps = length * np.stack([np.cos(heading), np.sin(heading)], axis=1)
    return np.cumsum(steps, axis=0) - steps  # each step leads away from its point


@pytest.mark.parametrize("radius", [10.0, 14.0])
def test_a_corner_is_made_as_sharp_as_drawn(radius: float) -> None:
    """Nearly: it is a little blunter where the points beyond are farther. Only its two neighbours move."""
    points = two_corners(50.0, 60.0)
    rules = dataclasses.replace(KINDS[HARD], sharp_corners=(8, 9), sharp_radius=(radius, radius))
    sharp = track_generator._sharpened(points, np.random.default_rng(0), rules)
    assert np.flatnonzero((sharp != points).any(axis=1)).tolist() == [5, 7, 17, 19]
    assert least_radius(CentreLine(points, np.ones(24))) > 25
    assert least_radius(CentreLine(sharp, np.ones(24))) == pytest.approx(1.2 * radius, rel=0.2)


@pytest.mark.parametrize(("angle", "length"), [(17.0, 60.0), (80.0, 60.0), (50.0, 12.0)])
def test_a_corner_that_does_not_suit_stays(angle: float, length: float) -> None:
    """It turns too little or too much, or its neighbours are nearer than they would be moved."""
    points = two_corners(angle, length)
    rules = dataclasses.replace(KINDS[HARD], sharp_corners=(8, 9))
    assert (track_generator._sharpened(points, np.random.default_rng(0), rules) == points).all()


def test_both_windings_occur(generated: list[Track]) -> None:
    """Left-handed drivers only would be a pity."""
    areas = []
    for track in generated:
        x, y = track.geometry.centre_line.point_at(np.arange(0.0, track.length, 5.0)).T
        areas.append(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
    assert 0 < sum(area > 0 for area in areas) < COUNT


def test_walls_keep_their_distance(generated: list[Track]) -> None:
    """From the centre line; and along a wall, the nearest centre point never jumps to another leg."""
    clearance = kind_of(generated[0]).clearance
    for track in generated:
        at = np.arange(0.0, track.length, 2.0)
        centre = track.geometry.centre_line.point_at(at)
        for wall in (track.geometry.inner_wall, track.geometry.outer_wall):
            apart = np.hypot(wall[:, None, 0] - centre[:, 0], wall[:, None, 1] - centre[:, 1])
            assert apart.min() > clearance - 0.5
            jumps = np.abs(np.diff(at[apart.argmin(axis=1)]))
            assert np.minimum(jumps, track.length - jumps).max() < 75


def test_a_road_too_near_to_its_wall_is_not_taken() -> None:
    """The wall's least distance from the centre line decides, to within the step of the check."""
    geometry = generate_track(3, 0, HARD).geometry
    centre = geometry.centre_line.point_at(np.arange(0.0, geometry.total_length, 0.5))
    walls = np.concatenate([geometry.inner_wall, geometry.outer_wall])
    least = float(np.hypot(walls[:, None, 0] - centre[:, 0], walls[:, None, 1] - centre[:, 1]).min())
    for clearance, is_taken in ((least - 0.1, True), (least + 1.0, False)):
        rules = dataclasses.replace(KINDS[HARD], clearance=clearance)
        assert track_generator._is_clear(geometry, rules) is is_taken


def test_they_pass_the_checks_of_a_file(generated: list[Track]) -> None:
    """What is written out is a track like any other."""
    for track in generated:
        assert parse_track(track.to_json()).fingerprint == track.fingerprint


@pytest.mark.parametrize("kind", KINDS)
def test_every_family_yields_tracks(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each kind."""
    for family in KINDS[kind].families:
        monkeypatch.setitem(KINDS, kind, dataclasses.replace(KINDS[kind], families=(family,)))
        assert generate_track(1, 0, kind).id == f"{kind}-1-0"


def test_hairpins_turn_right_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within 250 units, as the one of track-03 does; drivers that met none do not brake for it."""
    families = tuple(family for family in KINDS[HARD].families if family.draw is shapes._hairpins)
    monkeypatch.setitem(KINDS, HARD, dataclasses.replace(KINDS[HARD], families=families))
    turns = []
    for number in range(COUNT):
        track = generate_track(3, number, HARD)
        x, y = track.geometry.centre_line.unit_tangent_at(np.arange(0, track.length + 250, 5.0)).T
        heading = np.unwrap(np.arctan2(y, x))
        turns.append(np.degrees(np.abs(heading[50:] - heading[:-50]).max()))
    assert np.median(turns) > 140


@pytest.mark.parametrize(("kind", "most"), [(NORMAL, 4), (HARD, 4), (OVAL, 4)])
def test_few_roads_are_drawn_for_a_track(kind: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of the time goes into those that are not taken."""
    drawn = []
    draw = track_generator._draw
    monkeypatch.setattr(track_generator, "_draw", lambda *arguments: drawn.append(1) or draw(*arguments))
    for number in range(COUNT):
        generate_track(4, number, kind)
    assert COUNT < len(drawn) < most * COUNT


def test_control_points_are_few(generated: list[Track]) -> None:
    """A track's tables grow with them."""
    fewest, most = kind_of(generated[0]).points
    assert all(fewest <= len(track.points) <= most for track in generated)


def test_samples_of_hard_walls_fit_the_tightest_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closer ones let the wall fold there, others let it cut into the road; short sharp corners do not count."""
    monkeypatch.setitem(KINDS, HARD, dataclasses.replace(KINDS[HARD], sharp_corners=(0, 1)))
    closest, farthest = KINDS[HARD].wall_samples
    for number in range(COUNT):
        geometry = generate_track(3, number, HARD).geometry
        spacing = geometry.total_length / (len(geometry.inner_wall) - 1)
        radius = track_generator._least_radius(geometry.centre_line)
        assert closest - 0.01 < spacing / radius < farthest + 0.01


@pytest.mark.parametrize("sharpness", [-0.1, 0.25])
def test_a_shape_is_made_sharper_or_rounder_until_it_fits(sharpness: float) -> None:
    """A circle with dents: of nearly none, and of deep ones."""
    angle = np.arange(24) * 2 * np.pi / 24
    radius = 1 + sharpness * (np.arange(24) % 6 == 0)
    shape = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    fitted = track_generator._fitted(shape, (0.26, 0.38))
    assert fitted is not None
    points, line, least = fitted
    assert np.abs(points - shape).max() > 0.01
    assert 0.26 <= line.total_length / 288 / least <= 0.38


def test_a_shape_that_never_fits_is_given_up() -> None:
    """A circle has no bend to make sharper by a few rounds."""
    angle = np.arange(24) * 2 * np.pi / 24
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    assert track_generator._fitted(circle, (0.26, 0.38)) is None


def test_names_are_written_out() -> None:
    """So many of a seed; other names stay."""
    assert expand_names(
        ["track-01", "procedural:2", "procedural-hard:1", "procedural-oval:1", "procedural-4-9"], 6
    ) == [
        *(
            "track-01",
            "procedural-6-0",
            "procedural-6-1",
            "procedural-hard-6-0",
            "procedural-oval-6-0",
            "procedural-4-9",
        )
    ]
    assert [track.id for track in load_tracks(expand_names(["procedural:2"], 1))] == [
        "procedural-1-0",
        "procedural-1-1",
    ]


@pytest.mark.parametrize(
    "name",
    ["procedural:0", "procedural:", "procedural:-1", "procedural:many", "procedural:99999", "procedural:" + "9" * 5000],
)
def test_no_number_of_tracks(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It is named, on the command line in one line."""
    with pytest.raises(TrackError, match="expected procedural:N with N from 1 to 4,096"):
        expand_names([name], 0)
    parser = Parser()
    add_track_arguments(parser, "none")
    with pytest.raises(SystemExit):
        parser.parse_args(["--track-id", name])
    assert capsys.readouterr().err.count("\n") == 1


def test_a_name_that_says_nothing() -> None:
    """It is no generated track's."""
    with pytest.raises(TrackError, match="expected one of procedural, procedural-hard, procedural-oval with"):
        track_of_name("procedural-x-1")
    with pytest.raises(TrackError, match="procedural-7-12 is generated, and so are sets: procedural:8, "):
        load_track("procedural-7")


def test_kinds_of_sets_are_named_to_who_asks_for_none() -> None:
    """All of them."""
    with pytest.raises(TrackError) as wrong:
        load_track("procedural-ovals:3")
    assert all(f"{kind}:" in str(wrong.value) for kind in KINDS)


def test_they_are_driven_like_any_other(capsys: pytest.CaptureFixture[str]) -> None:
    """In training's environment, and by evaluation with its own seed."""
    env = RacerVecEnv(["procedural-2-0", "procedural-hard-2-0"], 4)
    assert env.reset().shape == (4, 14)
    assert env.get_attr("track_id")[:2] == ["procedural-2-0", "procedural-hard-2-0"]
    env.close()
    arguments = ["--model", "scripted", "--track-id", "procedural:2", "--track-seed", "5", "--laps", "1"]
    assert evaluate.main(arguments) == 0
    assert "procedural-5-1 " in capsys.readouterr().out


@pytest.mark.integration
def test_the_bridge_is_given_them(node_bridge: None, capsys: pytest.CaptureFixture[str]) -> None:
    """The bundled one drives them as the simulator does."""
    arguments = ["--model", "scripted", "--track-id", "procedural-hard-3-1", "--laps", "1"]
    printed = []
    for more in ([], ["--bridge-url", "auto"]):
        assert evaluate.main([*arguments, *more]) == 0
        printed.append(capsys.readouterr().out.splitlines()[-1])
    assert printed[0] == printed[1]


def test_making_one_takes_no_longer_than_a_few_checks() -> None:
    """In terms of what checking a finished one takes here: nearly every shape that is drawn is a track."""

    def seconds(body: object) -> float:
        started = time.perf_counter()
        body()  # type: ignore[operator]
        return time.perf_counter() - started

    documents = [generate_track(4, number).to_json() for number in range(10)]
    checking = seconds(lambda: [parse_track(document) for document in documents])
    making = seconds(lambda: [generate_track(4, number) for number in range(10)])
    assert making < 6 * checking


def test_a_file_of_ones_own_goes_before_a_generated_name(tmp_path: Path) -> None:
    """A track that is written and changed stays what it is."""
    document = {**ring_document(), "id": "procedural-1-2"}
    (tmp_path / "procedural-1-2.json").write_text(json.dumps(document), encoding="utf-8")
    assert load_track("procedural-1-2", tmp_path).to_json() == document
    assert load_track("procedural-1-2").to_json() != document
    assert [track.to_json() for track in load_tracks(["all"], tmp_path)] == [document]
