"""Centre line, walls and gates from control points."""

import math

import numpy as np
import pytest

from racer_env.tracks import Track, parse_track
from racer_env.tracks.geometry import CentreLine, TrackGeometry, circular_box_filter
from tests.helpers import FloatArray, ring_document

LINES = ("inner_wall", "outer_wall", "inner_road_edge", "outer_road_edge")


def area(line: FloatArray) -> float:
    """Return the area within a closed polyline."""
    x, y = line.T
    return abs(float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))) / 2


@pytest.fixture(scope="module", params=[0, 1, 2])
def shipped(request: pytest.FixtureRequest, tracks: list[Track]) -> Track:
    """Each shipped track in turn."""
    return tracks[request.param]


@pytest.fixture(scope="module")
def line() -> CentreLine:
    """A lopsided loop of four points, of four half-widths."""
    points = np.array([[0.0, 0.0], [100.0, 10.0], [130.0, 90.0], [-20.0, 110.0]])
    return CentreLine(points, np.array([10.0, 20.0, 5.0, 8.0]))


def test_centre_line_goes_through_the_control_points(shipped: Track) -> None:
    """The point at a control point's arc length is the control point."""
    line = shipped.geometry.centre_line
    np.testing.assert_allclose(line.point_at(line.point_lengths), shipped.points, rtol=0, atol=1e-9)


def test_control_points_have_growing_arc_lengths(shipped: Track) -> None:
    """The first control point is at 0, the others follow in order, at least the straight distance apart."""
    line = shipped.geometry.centre_line
    steps = np.diff(np.append(line.point_lengths, line.total_length))
    straight = np.hypot(*(np.roll(shipped.points, -1, axis=0) - shipped.points).T)
    assert line.point_lengths[0] == 0.0
    assert (steps >= straight - 1e-9).all()
    assert (steps < 1.5 * straight).all()


def test_total_length_is_that_of_twenty_chords_a_segment(line: CentreLine) -> None:
    """The arc length is the sum of the chords between twentieths of each segment."""
    corners = []
    for c in line.coefficients:
        corners += [((c[0] * t + c[1]) * t + c[2]) * t + c[3] for t in np.arange(20) / 20]
    chords = [math.dist(a, b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]
    assert line.total_length == pytest.approx(sum(chords), rel=1e-13)


def test_centre_line_is_smooth_at_control_points(line: CentreLine) -> None:
    """The direction does not jump from one segment to the next."""
    before, after = (line.unit_tangent_at(line.point_lengths + offset) for offset in (-1e-7, 1e-7))
    np.testing.assert_allclose(before, after, rtol=0, atol=1e-6)


def test_tangent_is_the_direction_of_travel(line: CentreLine) -> None:
    """The unit tangent is the direction from a point to one a little further along."""
    at = np.linspace(1.0, line.total_length - 1.0, 50)
    step = line.point_at(at + 1e-4) - line.point_at(at - 1e-4)
    np.testing.assert_allclose(line.unit_tangent_at(at), step / np.hypot(*step.T)[:, None], rtol=0, atol=1e-3)
    np.testing.assert_allclose(np.hypot(*line.unit_tangent_at(at).T), 1.0, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("laps", "rest", "expected"), [(0, 0.0, 0.0), (1, 0.0, 0.0), (-1, 0.0, 0.0), (2, 7.0, 7.0), (-2, 7.0, 7.0)]
)
def test_distances_wrap(line: CentreLine, laps: int, rest: float, expected: float) -> None:
    """Whole laps more or less are the same place; the wrapped distance is in [0, total length)."""
    assert line.wrap(np.array(laps * line.total_length + rest)) == pytest.approx(expected, abs=1e-9)


def test_tiny_negative_distance_wraps_below_the_length(line: CentreLine) -> None:
    """A distance that rounds up to the total length counts as 0."""
    assert line.wrap(np.array(-1e-30)) == 0.0


def test_half_width_at_control_points_is_theirs(line: CentreLine) -> None:
    """At a control point the half-width is the point's own."""
    np.testing.assert_allclose(line.half_width_at(line.point_lengths), [10.0, 20.0, 5.0, 8.0], rtol=0, atol=1e-12)


def test_half_width_is_linear_between_control_points(line: CentreLine) -> None:
    """Half-way in arc length the half-width is the mean; the last stretch leads back to the first point."""
    knots = np.append(line.point_lengths, line.total_length)
    middle = (knots[:-1] + knots[1:]) / 2
    np.testing.assert_allclose(line.half_width_at(middle), [15.0, 12.5, 6.5, 9.0], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("count", "radius"), [(30, 4), (200, 10), (21, 10), (9, 4)])
def test_box_filter_is_a_running_mean(count: int, radius: int) -> None:
    """The filter adds what enters and takes what leaves, in that order, to the last bit."""
    values = np.random.default_rng(count).normal(size=count) * 100
    total = 0.0
    for index in range(-radius, radius + 1):
        total += values[index % count]
    expected = [total / (2 * radius + 1)]
    for index in range(1, count):
        total = (total + values[(index + radius) % count]) - values[(index - 1 - radius) % count]
        expected.append(total / (2 * radius + 1))
    assert circular_box_filter(values, radius).tolist() == expected


def test_box_filter_keeps_a_constant() -> None:
    """The mean of equal values is that value."""
    np.testing.assert_allclose(circular_box_filter(np.full(50, 3.25), 4), 3.25, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", LINES)
def test_walls_and_edges_are_closed(shipped: Track, name: str) -> None:
    """Each polyline ends where it begins and has at least 200 samples, twelve a control point."""
    line = getattr(shipped.geometry, name)
    assert line[0].tolist() == line[-1].tolist()
    assert line.shape == (max(200, 12 * len(shipped.points)) + 1, 2)


def test_outer_wall_encloses_the_larger_area(shipped: Track) -> None:
    """From outside in come the outer wall, the outer edge, the inner edge and the inner wall, in either direction."""
    geometry = shipped.geometry
    areas = [
        area(getattr(geometry, name)) for name in ("outer_wall", "outer_road_edge", "inner_road_edge", "inner_wall")
    ]
    assert areas == sorted(areas, reverse=True)


def test_walls_of_a_ring_are_circles(ring: Track) -> None:
    """Where nothing is tight, a wall stands the half-width and the wall offset beside the centre line."""
    geometry = ring.geometry
    for name, radius in (("inner_wall", 150), ("outer_wall", 250), ("inner_road_edge", 180), ("outer_road_edge", 220)):
        np.testing.assert_allclose(np.hypot(*getattr(geometry, name).T), radius, rtol=0, atol=2.5)


def test_inner_wall_of_a_tight_curve_comes_nearer() -> None:
    """Where the curve is tighter than the wall is far, the wall keeps 4 units from the curve's centre."""
    geometry = parse_track(ring_document(radius=45.0), must_be_drivable=False).geometry
    assert np.hypot(*geometry.inner_wall.T).max() < 8.0
    np.testing.assert_allclose(np.hypot(*geometry.outer_wall.T), 95.0, rtol=0, atol=1.5)


def test_gates_stand_between_the_walls(shipped: Track) -> None:
    """A gate runs from a point of the inner wall to one of the outer wall, with the centre line between them."""
    geometry = shipped.geometry
    gates = geometry.gates
    assert {tuple(point) for point in gates.left} <= {tuple(point) for point in geometry.inner_wall}
    assert {tuple(point) for point in gates.right} <= {tuple(point) for point in geometry.outer_wall}
    width = np.hypot(*(gates.right - gates.left).T)
    reach = np.hypot(*(gates.left - gates.centre).T) + np.hypot(*(gates.right - gates.centre).T)
    assert (reach < 1.05 * width).all()


def test_gates_are_evenly_spaced(shipped: Track) -> None:
    """Gate i of m is at i / m of the lap, centred on the line and facing along it; the first is at the start."""
    geometry, count = shipped.geometry, shipped.checkpoint_count
    gates = geometry.gates
    np.testing.assert_allclose(gates.arc_length, np.arange(count) * geometry.total_length / count, rtol=1e-15)
    assert gates.centre.tolist() == geometry.centre_line.point_at(gates.arc_length).tolist()
    assert gates.direction.tolist() == geometry.centre_line.unit_tangent_at(gates.arc_length).tolist()


def test_start_is_the_first_control_point(shipped: Track) -> None:
    """A race starts on the first control point, heading along the line."""
    x, y, heading = shipped.geometry.start
    tangent = shipped.geometry.centre_line.unit_tangent_at(np.zeros(()))
    assert (x, y) == tuple(shipped.points[0])
    assert (math.cos(heading), math.sin(heading)) == pytest.approx(tuple(tangent), abs=1e-15)


def test_roles_follow_the_area_and_not_the_direction() -> None:
    """A track driven the other way round has its inner wall inside still."""
    document = ring_document()
    document["controlPoints"].reverse()
    geometry: TrackGeometry = parse_track(document).geometry
    assert np.hypot(*geometry.inner_wall.T).max() < np.hypot(*geometry.outer_wall.T).min()
    assert np.hypot(*geometry.gates.left.T).max() < np.hypot(*geometry.gates.right.T).min()
