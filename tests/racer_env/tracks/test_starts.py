"""Where episodes start."""

import dataclasses
import math

import numpy as np
import pytest

from racer_env.errors import ConfigError
from racer_env.simulator.simulator import Simulator
from racer_env.tracks import Track
from racer_env.tracks.starts import (
    MAX_HEADING_OFFSET,
    MAX_LATERAL_SHARE,
    MAX_START_SPEED,
    Start,
    random_placement,
    standing_start,
    start_at,
    start_for,
)
from tests.helpers import TEST_CONFIG, FloatArray, drive_actions, drive_until, nearest_centre, place, wrap_angle


@pytest.fixture(scope="module", params=[0, 1, 2])
def shipped(request: pytest.FixtureRequest, tracks: list[Track]) -> Track:
    """Each shipped track in turn."""
    return tracks[request.param]


def draw(track: Track, count: int) -> list[Start]:
    """Draw random starts from one generator."""
    random = np.random.default_rng(11)
    return [start_for(track.geometry, random_placement(track.geometry, random)) for _ in range(count)]


def positions(starts: list[Start]) -> tuple[FloatArray, FloatArray]:
    """Return x and y of starts."""
    return np.array([start.x for start in starts]), np.array([start.y for start in starts])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x", math.nan),
        ("y", 1e300),
        ("heading", 1e12),
        ("speed", -1.0),
        ("speed", 161.0),
        ("checkpoint", 30),
        ("lap", -1),
    ],
)
def test_a_start_that_no_car_can_have_is_refused(track: Track, name: str, value: float) -> None:
    """Before the engine sees it; the car stays where it was."""
    simulator = Simulator([track])
    before = simulator.cars.copy()
    start = dataclasses.replace(standing_start(track.geometry), **{name: value})
    with pytest.raises(ConfigError, match=f"start: {name} must be within"):
        simulator.place([0], [start])
    assert (simulator.cars == before).all()


def test_ranges_are_the_documented_ones() -> None:
    """A random start is within 0.6 of the half-width, 0.3 rad and 120 units/s."""
    assert (MAX_LATERAL_SHARE, MAX_HEADING_OFFSET, MAX_START_SPEED) == (0.6, 0.3, 120.0)


def test_standing_start_is_the_game_s(shipped: Track) -> None:
    """The standing start is at rest on the first control point, on lap 1 behind gate 0."""
    start = standing_start(shipped.geometry)
    assert (start.x, start.y) == tuple(shipped.points[0])
    assert (start.speed, start.checkpoint, start.lap) == (0.0, 0, 1)


def test_random_starts_are_on_the_road(shipped: Track) -> None:
    """A random start is within its share of the half-width, and the starts use that range."""
    arc_lengths, distances = nearest_centre(shipped.geometry, *positions(draw(shipped, 150)))
    shares = distances / shipped.geometry.centre_line.half_width_at(arc_lengths)
    assert 0.5 < shares.max() <= 0.6 + 1e-3
    assert shares.mean() == pytest.approx(0.3, abs=0.05)


def test_random_starts_head_along_the_road(shipped: Track) -> None:
    """A random start's heading is within its range of the road's direction, and the starts use that range."""
    starts = draw(shipped, 150)
    arc_lengths, _ = nearest_centre(shipped.geometry, *positions(starts))
    tangents = shipped.geometry.centre_line.unit_tangent_at(arc_lengths)
    headings = np.array([start.heading for start in starts])
    offsets = wrap_angle(headings - np.arctan2(tangents[:, 1], tangents[:, 0]))
    assert 0.25 < offsets.max() <= 0.3 + 2e-3
    assert -0.3 - 2e-3 <= offsets.min() < -0.25


def test_random_starts_are_on_the_move(shipped: Track) -> None:
    """A random start's speed is within its range, and the starts use that range."""
    speeds = [start.speed for start in draw(shipped, 300)]
    assert 0.0 <= min(speeds) < 10.0
    assert 110.0 < max(speeds) <= 120.0


def test_random_starts_are_all_along_the_track(shipped: Track) -> None:
    """Every tenth of the lap gets its share of random starts, on an out-lap."""
    starts = draw(shipped, 300)
    arc_lengths, _ = nearest_centre(shipped.geometry, *positions(starts))
    assert np.histogram(arc_lengths / shipped.length, 10, (0.0, 1.0))[0].min() >= 12
    assert {start.lap for start in starts} == {0}


def test_same_seed_draws_the_same_starts(track: Track) -> None:
    """A start depends on the generator only."""
    assert draw(track, 5) == draw(track, 5)
    assert len(set(draw(track, 5))) == 5


def test_start_is_where_it_is_asked_for(ring: Track) -> None:
    """Lateral goes to the left of the centre line, heading counter-clockwise from the road's direction."""
    start = start_at(ring.geometry, 0.0, lateral=15.0, heading=0.25, speed=33.0)
    assert (start.x, start.y) == pytest.approx((185.0, 0.0), abs=1e-9)
    assert start.heading == pytest.approx(math.pi / 2 + 0.25, abs=1e-9)
    assert start.speed == 33.0


@pytest.mark.parametrize("laps", [-2, 1, 3])
def test_arc_length_of_any_value_is_wrapped(track: Track, laps: int) -> None:
    """Whole laps more or less give the same place and the same last gate."""
    start, same = start_at(track.geometry, 500.0), start_at(track.geometry, 500.0 + laps * track.length)
    assert (same.x, same.y, same.heading) == pytest.approx((start.x, start.y, start.heading), abs=1e-9)
    assert same.checkpoint == start.checkpoint


def test_start_speed_is_along_the_heading(track: Track) -> None:
    """A placed car's velocity is its speed along its heading."""
    simulator = Simulator([track], 1, TEST_CONFIG)
    place(simulator, start_at(track.geometry, 200.0, heading=0.5, speed=40.0))
    car = simulator.cars[0]
    expected = 40.0 * math.cos(car["heading"]), 40.0 * math.sin(car["heading"])
    assert (car["vx"], car["vy"]) == pytest.approx(expected, abs=1e-12)


def test_next_gate_is_the_one_ahead(shipped: Track) -> None:
    """Driven along the road, a random start's car crosses the gate after its last one before it passes any other."""
    starts, count = draw(shipped, 60), shipped.checkpoint_count
    simulator = Simulator([shipped], len(starts), TEST_CONFIG)
    simulator.place(range(len(starts)), starts)
    begin, last = simulator.cars["arc_length"].copy(), simulator.cars["checkpoint"].copy()
    lateral = laterals(shipped, starts)
    pending = np.ones(len(starts), bool)
    for _ in range(200):
        simulator.step(drive_actions(shipped, simulator.cars, 80.0, lateral))
        crossed = pending & (simulator.cars["checkpoint"] != last)
        assert (simulator.cars["checkpoint"][crossed] == (last[crossed] + 1) % count).all()
        driven = (simulator.cars["arc_length"] - begin) % shipped.length
        assert (driven[crossed] < 1.4 * shipped.length / count).all()
        pending &= ~crossed
    assert not pending.any()


def laterals(track: Track, starts: list[Start]) -> FloatArray:
    """Return how far to the left of the centre line starts are."""
    x, y = positions(starts)
    arc_lengths, _ = nearest_centre(track.geometry, x, y)
    line = track.geometry.centre_line
    centre, tangent = line.point_at(arc_lengths), line.unit_tangent_at(arc_lengths)
    return (y - centre[:, 1]) * tangent[:, 0] - (x - centre[:, 0]) * tangent[:, 1]


@pytest.mark.parametrize("lateral_share", [-0.6, 0.0, 0.6])
def test_last_gate_is_the_one_behind_on_either_side_of_every_gate(shipped: Track, lateral_share: float) -> None:
    """Along a lap at any lateral offset, the last gate grows by one at a time and comes round once."""
    geometry, count = shipped.geometry, shipped.checkpoint_count
    gates = []
    for arc_length in np.arange(0.0, shipped.length, 2.0):
        lateral = lateral_share * float(geometry.centre_line.half_width_at(np.array(arc_length)))
        gates.append(start_at(geometry, arc_length, lateral).checkpoint)
    steps = np.diff(gates) % count
    assert set(steps.tolist()) == {0, 1}
    assert count - 1 <= steps.sum() <= count


def test_out_lap_ends_at_the_line(track: Track) -> None:
    """A start elsewhere is on lap 0; the line begins lap 1, and a whole lap later lap 2."""
    simulator = Simulator([track], 1, TEST_CONFIG)
    place(simulator, start_at(track.geometry, 0.6 * track.length, speed=100.0))
    assert simulator.cars[0]["lap"] == 0
    out_lap = drive_until(simulator, lambda car: car["lap"] != 0, 1000)
    assert (simulator.cars[0]["lap"], simulator.cars[0]["checkpoint"]) == (1, 0)
    first_lap = drive_until(simulator, lambda car: car["lap"] != 1, 1500)
    assert (simulator.cars[0]["lap"], simulator.cars[0]["checkpoint"]) == (2, 0)
    assert out_lap == pytest.approx(0.4 * first_lap, rel=0.1)
