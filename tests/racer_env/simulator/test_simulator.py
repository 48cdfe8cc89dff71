"""The rules of the game at their edges, and many cars against one."""

import functools
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from racer_env.config import AiConfig
from racer_env.errors import ActionError, ConfigError
from racer_env.physics import Physics
from racer_env.project import DEFAULT_PHYSICS_PATH
from racer_env.simulator import tables
from racer_env.simulator.kernels import CACHED_TRACKS, GROUP
from racer_env.simulator.simulator import Simulator
from racer_env.simulator.tables import (
    BEGIN_BITS,
    BEGIN_UNIT,
    BLOCK,
    CACHE_LINE,
    CELL,
    END,
    NEAR_STEP,
    VIEW_DIRECTIONS,
    Tables,
    build_all_tables,
    build_tables,
    concatenate_tables,
)
from racer_env.tracks import Track, load_track
from racer_env.tracks.generator import generate_track
from racer_env.tracks.names import HARD, NORMAL
from racer_env.tracks.shapes import KINDS
from racer_env.tracks.starts import Start, random_placement, standing_start, start_for
from tests.helpers import (
    COMPONENTS,
    MAX_SPEED,
    TEST_CONFIG,
    FloatArray,
    beside_wall,
    crosses,
    drive_until,
    gate_arc_length,
    nearest_centre,
    place,
    place_at,
    random_actions,
    ray_distances,
    step,
    wall_distance,
    wall_segments,
    with_limits,
)

ROLL_ONLY = 158.0 / 55000.0  # throttle that holds a speed of exactly 2: 2 * 2^2 of drag and 150 of rolling resistance


@pytest.fixture
def simulator(track: Track) -> Simulator:
    """One car on the first track."""
    return Simulator([track], 1, TEST_CONFIG)


def place_before_gate(simulator: Simulator, gate: int, last: int, is_backwards: bool = False) -> None:
    """Put a car a unit before a gate, or a unit behind it and facing it, at two units a tick."""
    offset, heading = (1.0, math.pi) if is_backwards else (-1.0, 0.0)
    place_at(simulator, gate_arc_length(simulator.tracks[0].geometry, gate) + offset, heading=heading, speed=120.0)
    simulator.cars[0]["checkpoint"], simulator.cars[0]["lap"] = last, 1


def states(simulator: Simulator) -> list[Any]:
    """Return copies of everything that a step writes."""
    return [
        *(simulator.cars[name].copy() for name in simulator.cars.dtype.names or () if name != "track"),
        *(simulator.infos[name].copy() for name in simulator.infos.dtype.names or ()),
        *(array.copy() for array in (simulator.observations, simulator.rewards)),
        *(array.copy() for array in (simulator.terminated, simulator.truncated)),
    ]


def assert_identical(many: list[Any], car: int, single: list[Any]) -> None:
    """Compare one car of a batch with a single one, bit for bit."""
    for batch, alone in zip(many, single, strict=True):
        assert batch[car].tobytes() == alone[0].tobytes()


# --- Gates and laps ---


def test_expected_gate_counts(simulator: Simulator) -> None:
    """Crossing the gate after the last one makes it the last."""
    place_before_gate(simulator, gate=5, last=4)
    assert step(simulator)["checkpoint"] == 5


def test_gate_crossed_backwards_does_not_count(simulator: Simulator) -> None:
    """Crossing the expected gate against its direction changes nothing."""
    place_before_gate(simulator, gate=5, last=4, is_backwards=True)
    assert step(simulator)["checkpoint"] == 4


@pytest.mark.parametrize("last", [3, 5, 6])
def test_other_gates_do_not_count(simulator: Simulator, last: int) -> None:
    """Crossing any gate but the expected one changes nothing."""
    place_before_gate(simulator, gate=5, last=last)
    assert step(simulator)["checkpoint"] == last


def test_gate_not_reached_does_not_count(simulator: Simulator) -> None:
    """A move that ends short of the expected gate changes nothing."""
    place_at(simulator, gate_arc_length(simulator.tracks[0].geometry, 5) - 2.5, speed=120.0)
    assert step(simulator)["checkpoint"] == 4


def test_one_gate_a_tick(track: Track) -> None:
    """A move across two gates counts the first of them, and the second is lost."""
    crowded = replace(track, checkpoint_count=int(track.length))  # a gate every unit
    simulator = Simulator([crowded], 1, TEST_CONFIG)
    gates, gate = crowded.geometry.gates, 100
    place_at(simulator, gate_arc_length(crowded.geometry, gate) - 0.1, speed=150.0)
    simulator.cars[0]["checkpoint"] = gate - 1
    before = simulator.cars[0]["x"], simulator.cars[0]["y"]
    info = step(simulator)
    after = simulator.cars[0]["x"], simulator.cars[0]["y"]
    assert crosses(before, after, gates.left[gate], gates.right[gate])
    assert crosses(before, after, gates.left[gate + 1], gates.right[gate + 1])
    assert info["checkpoint"] == gate


def test_line_after_all_gates_completes_a_lap(simulator: Simulator) -> None:
    """Gate 0 after the last gate raises the lap and becomes the last gate."""
    place_before_gate(simulator, gate=0, last=29)
    info = step(simulator)
    assert (info["lap"], info["checkpoint"]) == (2, 0)


@pytest.mark.parametrize("last", [0, 15, 28])
def test_line_before_all_gates_completes_nothing(simulator: Simulator, last: int) -> None:
    """Crossing the line with a gate missing leaves lap and last gate as they are."""
    place_before_gate(simulator, gate=0, last=last)
    info = step(simulator)
    assert (info["lap"], info["checkpoint"]) == (1, last)


def test_other_gates_complete_no_lap(simulator: Simulator) -> None:
    """A gate other than the line leaves the lap as it is."""
    place_before_gate(simulator, gate=29, last=28)
    info = step(simulator)
    assert (info["lap"], info["checkpoint"]) == (1, 29)


@pytest.mark.parametrize("index", [0, 1, 2])
def test_driving_round_counts_laps(tracks: list[Track], index: int) -> None:
    """A car driven round from the line finishes its first lap after about the track's length."""
    simulator = Simulator([tracks[index]], 1, TEST_CONFIG)
    ticks = drive_until(simulator, lambda car: car["lap"] == 2, 3000, speed=90.0)
    assert simulator.cars[0]["checkpoint"] == 0
    assert ticks * 90 / 60 == pytest.approx(tracks[index].length, rel=0.15)


# --- Reward ---


def test_progress_is_the_share_of_the_lap(simulator: Simulator) -> None:
    """Progress is the change of the nearest centre point's arc length over the lap's length."""
    track = simulator.tracks[0]
    place_at(simulator, 300.0, lateral=5.0, heading=0.2, speed=90.0)
    before, _ = nearest_centre(track.geometry, simulator.cars[0]["x"], simulator.cars[0]["y"])
    info = step(simulator, throttle=1.0)
    after, _ = nearest_centre(track.geometry, simulator.cars[0]["x"], simulator.cars[0]["y"])
    assert 1.0 < after - before < 2.0
    assert info["progress"] == pytest.approx((after - before) / track.length, abs=1e-12)


def test_progress_over_a_lap_is_the_weight(track: Track) -> None:
    """A lap from the line back to it earns the weight of progress."""
    config = AiConfig(replace(TEST_CONFIG.weights, progress=3.0))
    simulator = Simulator([track], 1, config)
    earned = 0.0

    def lap_is_done(car: np.void) -> bool:
        nonlocal earned
        earned += float(simulator.infos[0]["progress"])
        return bool(car["lap"] == 2)

    assert drive_until(simulator, lap_is_done, 2000) > 0
    assert earned == pytest.approx(3.0, abs=3.0 * 3 / track.length)


@pytest.mark.parametrize(("heading", "sign"), [(0.0, 1), (math.pi, -1)])
def test_progress_wraps_at_the_line(simulator: Simulator, heading: float, sign: int) -> None:
    """Crossing the line is a step of two units, forwards and backwards, and not a whole lap."""
    place_at(simulator, -sign * 1.0, heading=heading, speed=120.0)
    info = step(simulator)
    assert info["progress"] * simulator.tracks[0].length == pytest.approx(sign * 2.0, abs=0.1)


def test_progress_after_a_reset_counts_from_the_searched_point(simulator: Simulator) -> None:
    """A car that stays at the start makes no progress on its first tick, whatever the search found there."""
    track = simulator.tracks[0]
    place(simulator, standing_start(track.geometry))
    found, _ = nearest_centre(track.geometry, *track.geometry.start[:2])
    assert simulator.cars[0]["arc_length"] == pytest.approx(found, abs=1e-9)
    assert step(simulator)["progress"] == 0.0


def test_progress_scale_multiplies_progress_of_its_track(tracks: list[Track]) -> None:
    """A factor per track scales progress on that track, and nothing else."""
    plain = Simulator(tracks, 3, TEST_CONFIG)
    scaled = Simulator(tracks, 3, TEST_CONFIG, [1.0, 2.0, 0.5])
    for simulator in (plain, scaled):
        for car in range(3):
            place_at(simulator, 100.0, car, speed=60.0)
        step(simulator)
    np.testing.assert_allclose(scaled.infos["progress"], plain.infos["progress"] * [1.0, 2.0, 0.5], rtol=1e-15)
    for name in COMPONENTS[1:]:
        assert scaled.infos[name].tolist() == plain.infos[name].tolist()


def test_speed_component_is_the_share_of_top_speed(simulator: Simulator) -> None:
    """From rest at full throttle, the first tick gives the speed and the component that the engine's force gives."""
    info = step(simulator, throttle=1.0)
    speed = (1 - math.exp(-6 / 60)) * 55000 / 800 / 60
    assert info["rawSpeed"] == pytest.approx(speed, abs=1e-12)
    assert info["speed"] == pytest.approx(0.01 * speed / MAX_SPEED, abs=1e-15)


@pytest.mark.parametrize(("distance", "is_contact"), [(1.01, True), (1.999, True), (2.001, False), (10.0, False)])
def test_wall_component_is_for_a_car_within_two_units(simulator: Simulator, distance: float, is_contact: bool) -> None:
    """Wall contact is the collision radius plus a unit of padding, 2 units, and costs the penalty."""
    geometry = simulator.tracks[0].geometry
    place(simulator, Start(*beside_wall(geometry, distance)))
    info = step(simulator)
    assert wall_distance(geometry, simulator.cars[0]["x"], simulator.cars[0]["y"]) == pytest.approx(distance, abs=1e-9)
    assert info["wallContact"] == is_contact
    assert info["wall"] == (-0.002 if is_contact else 0.0)


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize(("beyond", "surface"), [(-0.01, 0), (0.01, 2), (23.99, 2), (24.01, 1)])
def test_off_track_component_is_for_a_car_off_the_road(ring: Track, side: int, beyond: float, surface: int) -> None:
    """The road ends at the half-width, the shoulder 24 units beyond; anywhere off the road costs the penalty."""
    simulator = Simulator([ring], 1, TEST_CONFIG)
    place_at(simulator, 200.0, lateral=side * (20.0 + beyond))
    info = step(simulator)
    assert simulator.cars[0]["surface"] == surface
    assert info["offTrack"] == (0.0 if surface == 0 else -0.001)


def test_surface_starts_as_road(simulator: Simulator) -> None:
    """A car placed off the road is on the road until its first tick has looked."""
    place_at(simulator, 200.0, lateral=35.0)
    assert simulator.cars[0]["surface"] == 0
    step(simulator)
    assert simulator.cars[0]["surface"] == 2


@pytest.mark.parametrize(("heading", "expected"), [(0.0, 0.0), (math.pi, -0.0005)])
def test_backward_component_is_for_negative_progress(simulator: Simulator, heading: float, expected: float) -> None:
    """Driving against the direction costs the penalty, driving along it does not."""
    place_at(simulator, 300.0, heading=heading, speed=60.0)
    info = step(simulator)
    assert math.copysign(1.0, info["progress"]) == (1.0 if expected == 0.0 else -1.0)
    assert info["backward"] == expected


def test_standing_is_not_backward(simulator: Simulator) -> None:
    """No progress is not negative progress."""
    info = step(simulator)
    assert (info["progress"], info["backward"]) == (0.0, 0.0)


def test_stillness_component_is_for_a_car_below_the_threshold(simulator: Simulator) -> None:
    """A car at rest costs the penalty and counts a still tick."""
    info = step(simulator)
    assert (info["stillness"], info["stillnessCounter"]) == (-0.003, 1)
    info = step(simulator)
    assert (info["stillness"], info["stillnessCounter"]) == (-0.003, 2)


@pytest.mark.parametrize(("throttle", "speed"), [(ROLL_ONLY, 2.0), (ROLL_ONLY - 1e-9, 2.0 - 1e-9)])
def test_speed_at_the_threshold_is_not_still(simulator: Simulator, throttle: float, speed: float) -> None:
    """A speed of exactly 2 returns the counter to 0; a speed just below counts on."""
    x, y, _ = simulator.tracks[0].geometry.start
    place(simulator, Start(x, y, 0.0, 2.0), throttle=throttle, stillness_counter=100)
    info = step(simulator, throttle=throttle)
    if speed == 2.0:
        assert info["rawSpeed"] == 2.0
        assert (info["stillness"], info["stillnessCounter"]) == (0.0, 0)
    else:
        assert 2.0 - 1e-8 < info["rawSpeed"] < 2.0
        assert (info["stillness"], info["stillnessCounter"]) == (-0.003, 101)


def test_reward_is_the_sum_of_all_components(simulator: Simulator) -> None:
    """With every component but one at work on a tick, the reward is their sum."""
    geometry = simulator.tracks[0].geometry
    x, y, _ = beside_wall(geometry, 1.5)
    arc_length, _ = nearest_centre(geometry, x, y)
    tangent = geometry.centre_line.unit_tangent_at(np.array(arc_length))
    place(simulator, Start(x, y, math.atan2(-tangent[1], -tangent[0]), 1.5))
    info = step(simulator)
    assert info["progress"] < 0 < info["speed"]
    assert [info[name] for name in COMPONENTS[2:]] == [-0.002, -0.001, -0.0005, -0.003]
    assert simulator.rewards[0] == pytest.approx(sum(info[name] for name in COMPONENTS), abs=1e-18)


def test_rewards_are_sums_while_driving(tracks: list[Track]) -> None:
    """The reward is the sum of the six components on every tick of every car."""
    simulator = Simulator(tracks, 12, TEST_CONFIG)
    for actions in random_actions(0, 200, 12):
        simulator.step(actions)
        expected = sum(simulator.infos[name] for name in COMPONENTS)
        np.testing.assert_allclose(simulator.rewards, expected, rtol=0, atol=1e-17)


# --- Ends of an episode ---


@pytest.mark.parametrize(
    ("max_steps", "timeout", "expected"),
    [(5, 5, (True, True)), (5, 6, (False, True)), (6, 5, (True, False)), (6, 6, (False, False))],
)
def test_both_limits_are_independent(track: Track, max_steps: int, timeout: int, expected: tuple[bool, bool]) -> None:
    """After five still ticks each limit of five holds, alone or both on one tick."""
    simulator = Simulator([track], 1, with_limits(max_steps, timeout))
    for _ in range(4):
        step(simulator)
        assert not simulator.terminated[0] and not simulator.truncated[0]
    step(simulator)
    assert (simulator.terminated[0], simulator.truncated[0]) == expected


def test_limits_hold_beyond_their_tick(track: Track) -> None:
    """Both flags stay up while their limit stays exceeded."""
    simulator = Simulator([track], 1, with_limits(2, 2))
    for _ in range(4):
        step(simulator)
    assert simulator.terminated[0] and simulator.truncated[0]


def test_step_tells_how_many_episodes_ended(track: Track) -> None:
    """One whose end has two reasons counts once."""
    simulator = Simulator([track], 3, with_limits(10, 3))
    simulator.cars["step_count"][1] = 9
    assert [simulator.step(np.zeros((3, 3))) for _ in range(3)] == [1, 1, 3]


# --- Actions ---


def test_actions_beyond_the_bounds_are_clamped(track: Track) -> None:
    """Actions out of range give, bit for bit, what the nearest ones in range give."""
    wild = random_actions(3, 300, 1)
    tame = np.clip(wild, [-1.0, 0.0, 0.0], [1.0, 1.0, 1.0])
    assert (wild != tame).any(axis=(0, 1)).all()
    one, other = (Simulator([track], 1, TEST_CONFIG) for _ in range(2))
    for wild_action, tame_action in zip(wild, tame, strict=True):
        one.step(wild_action)
        other.step(tame_action)
        assert_identical(states(one), 0, states(other))


def test_positive_steer_turns_right(simulator: Simulator) -> None:
    """Positive steer turns clockwise, negative counter-clockwise by as much."""
    yaw_rates = []
    for steer in (1.0, -1.0):
        place_at(simulator, 300.0, speed=50.0)
        step(simulator, steer=steer)
        yaw_rates.append(float(simulator.cars[0]["yaw_rate"]))
    assert yaw_rates[0] < -0.1
    assert yaw_rates[1] == pytest.approx(-yaw_rates[0], rel=1e-6)


@pytest.mark.parametrize(
    ("car", "item", "value", "message"),
    [
        (0, 0, math.nan, "steer of car 0 is nan"),
        (2, 1, math.inf, "throttle of car 2 is inf"),
        (1, 2, -math.inf, "brake of car 1 is -inf"),
    ],
)
def test_action_that_is_not_finite_is_refused(track: Track, car: int, item: int, value: float, message: str) -> None:
    """NaN and infinities are errors that name the value, and no car has moved then."""
    simulator = Simulator([track], 3, TEST_CONFIG)
    before = simulator.cars.tobytes()
    actions = np.ones((3, 3))
    actions[car, item] = value
    with pytest.raises(ActionError, match=f"actions must be finite numbers; {message}"):
        simulator.step(actions)
    assert simulator.cars.tobytes() == before


@pytest.mark.parametrize("shape", [(3,), (2, 3), (3, 2), (3, 4), (1, 3, 3), (9,), ()])
def test_actions_of_another_shape_are_refused(track: Track, shape: tuple[int, ...]) -> None:
    """A shape other than (N, 3) is an error that names it."""
    simulator = Simulator([track], 3, TEST_CONFIG)
    with pytest.raises(ActionError, match=r"must have the shape \(3, 3\), .*; got \(" + ", ".join(map(str, shape))):
        simulator.step(np.zeros(shape))


@pytest.mark.parametrize("actions", [None, [["a", "b", "c"]], [[None, None, None]], [[0.0, 0.0], [0.0]]])
def test_actions_that_are_no_numbers_are_refused(simulator: Simulator, actions: Any) -> None:
    """What cannot be numbers is an action error, and no other one."""
    with pytest.raises(ActionError, match="actions must "):
        simulator.step(actions)


@pytest.mark.parametrize("kind", ["float32", "list", "integer", "transposed", "read-only", "big-endian"])
def test_actions_may_be_any_array_of_numbers(track: Track, kind: str) -> None:
    """Equal numbers give equal results, whatever their type and layout in memory."""
    numbers = np.array([[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    read_only = numbers.copy()
    read_only.setflags(write=False)
    actions: Any = {
        "float32": numbers.astype(np.float32),
        "list": numbers.tolist(),
        "integer": numbers.astype(np.int8),
        "transposed": np.asfortranarray(numbers),
        "read-only": read_only,
        "big-endian": numbers.astype(">f8"),
    }[kind]
    one, other = (Simulator([track], 3, TEST_CONFIG) for _ in range(2))
    for _ in range(5):
        one.step(numbers)
        other.step(actions)
    assert one.cars.tobytes() == other.cars.tobytes()


# --- Walls ---


def test_head_on_impact_stops_the_car(simulator: Simulator) -> None:
    """A car that hits a wall head-on bounces off with 8 % of its speed, and is turned."""
    x, y, heading = beside_wall(simulator.tracks[0].geometry, 1.2)
    place(simulator, Start(x, y, heading, 60.0))
    info = step(simulator)
    car = simulator.cars[0]
    assert info["rawSpeed"] == pytest.approx(0.08 * 60.0, rel=0.02)
    assert car["vx"] * math.cos(heading) + car["vy"] * math.sin(heading) < 0
    assert 0.1 < abs(car["heading"] - heading) < 0.4 * math.pi / 2 + 1e-9


def test_glancing_impact_keeps_the_direction(simulator: Simulator) -> None:
    """A car that touches a wall at a small angle loses 30 % of its speed along it and is not turned."""
    x, y, heading = beside_wall(simulator.tracks[0].geometry, 1.05)
    place(simulator, Start(x, y, heading + math.pi / 2 - 0.2, 60.0))
    info = step(simulator)
    assert info["rawSpeed"] == pytest.approx(60.0 * math.hypot(0.7 * math.cos(0.2), 0.08), rel=0.02)
    assert simulator.cars[0]["heading"] == pytest.approx(heading + math.pi / 2 - 0.2, abs=1e-9)


@pytest.mark.parametrize("index", [0, 1, 2])
def test_no_car_drives_through_a_wall(tracks: list[Track], index: int) -> None:
    """Cars at top speed in every direction stay between the walls."""
    track = tracks[index]
    simulator = Simulator([track], 32, TEST_CONFIG)
    for car in range(32):
        place_at(simulator, track.length * car / 32, car, heading=car * 0.7, speed=160.0)
    for actions in random_actions(1, 300, 32):
        actions[:, 1:] = 1.0, 0.0
        simulator.step(actions)
    for car in simulator.cars:
        assert is_inside(track.geometry.outer_wall, car["x"], car["y"])
        assert not is_inside(track.geometry.inner_wall, car["x"], car["y"])


def is_inside(polygon: FloatArray, x: float, y: float) -> bool:
    """Return whether a point is in a closed polygon, by the angle under which it sees the polygon go round."""
    angles = np.arctan2(polygon[:, 1] - y, polygon[:, 0] - x)
    turn = np.sum((np.diff(angles) + np.pi) % (2 * np.pi) - np.pi)
    return bool(abs(turn) > np.pi)


# --- Queries against looking at everything ---


@pytest.mark.parametrize("index", [0, 1, 2])
def test_rays_and_nearest_point_at_random_positions(tracks: list[Track], index: int) -> None:
    """Rays and the nearest centre point are those found by looking at every wall and every sample."""
    corner, extent = tracks[index].geometry.outer_wall.min(axis=0), np.ptp(tracks[index].geometry.outer_wall, axis=0)
    random = np.random.default_rng(index)
    positions = corner - 60 + random.uniform(size=(250, 2)) * (extent + 120)
    assert_observes_like_brute_force(tracks[index], positions, random.uniform(-9, 9, 250))


@pytest.mark.parametrize("index", [0, 1, 2])
def test_rays_and_nearest_point_close_to_the_walls(tracks: list[Track], index: int) -> None:
    """The same holds within a few units of a wall, on either side of it."""
    walls = np.concatenate([tracks[index].geometry.inner_wall, tracks[index].geometry.outer_wall])
    random = np.random.default_rng(index)
    positions = random.choice(walls, 150) + random.normal(size=(150, 2)) * 2.0
    assert_observes_like_brute_force(tracks[index], positions, random.uniform(-4, 4, 150))


def along(track: Track, count: int) -> FloatArray:
    """Return positions (count, 2) between the walls of a track."""
    random = np.random.default_rng(0)
    line = track.geometry.centre_line
    distance = random.uniform(0.0, track.length, count)
    tangent = line.unit_tangent_at(distance)
    normal = np.stack([-tangent[:, 1], tangent[:, 0]], axis=1)
    return line.point_at(distance) + normal * random.uniform(-40.0, 40.0, (count, 1))


@pytest.mark.parametrize("kind", [NORMAL, HARD])
def test_rays_and_nearest_point_on_generated_tracks(kind: str) -> None:
    """Where walls are near to each other and legs close by."""
    for number in range(3):
        track = generate_track(2, number, kind)
        assert_observes_like_brute_force(track, along(track, 400), np.linspace(-3, 3, 400))


@pytest.mark.parametrize("index", [0, 1, 2])
def test_nearest_point_of_a_car_between_two_samples(tracks: list[Track], index: int) -> None:
    """The nearer one is found, however little it is nearer."""
    line = tracks[index].geometry.centre_line
    count = math.ceil(tracks[index].length / tables.COARSE_SPACING)
    samples = line.point_at(np.arange(count) * tracks[index].length / count)
    between = (samples + np.roll(samples, -1, axis=0)) / 2
    ahead = np.roll(samples, -1, axis=0) - samples
    aside = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)
    random = np.random.default_rng(index)
    positions = between + aside * random.uniform(-5, 5, (count, 1)) + ahead * random.choice([-1e-6, 1e-6], (count, 1))
    assert_observes_like_brute_force(tracks[index], positions, np.zeros(count))


@pytest.mark.parametrize("kind", [NORMAL, HARD])
def test_views_hold_what_is_met_and_no_farther_than_it_is(kind: str) -> None:
    """The block of the wall that a ray meets is in its view, and the distance that stands for it is not above."""
    track = generate_track(3, 1, kind)
    built, geometry = build_tables(track.geometry), track.geometry
    row = built.tracks[0]
    begin, end = wall_segments(geometry)
    size = len(begin) // 2
    met = 0
    for (x, y), heading in zip(along(track, 300), np.linspace(-3, 3, 300), strict=True):
        column, line = int((x - row["grid_x"]) / CELL), int((y - row["grid_y"]) / CELL)
        cell = int(built.cells[line * row["columns"] + column])
        for ray, distance in enumerate(ray_distances(geometry, x, y, heading)):
            angle = heading - math.pi / 2 + ray * math.pi / 8
            hit = np.array([x, y]) + distance * np.array([math.cos(angle), math.sin(angle)])
            off = np.hypot(*(begin - hit).T) + np.hypot(*(end - hit).T) - np.hypot(*(end - begin).T)
            segment = int(off.argmin())
            if distance >= 200.0 or off[segment] > 1e-9 or cell == 0:
                continue
            direction = math.floor(angle * VIEW_DIRECTIONS / math.tau) % VIEW_DIRECTIONS
            place = int(built.views[cell * VIEW_DIRECTIONS + direction])
            first = segment if segment < size else segment - size + len(built.wall_x) // 2
            near = []
            while built.blocks[place] != END:
                start = int(built.blocks[place] & 2**BEGIN_BITS - 1) * BEGIN_UNIT
                # A block near the end of a wall goes on over its first segments.
                if start <= first < start + BLOCK or start <= first + size < start + BLOCK:
                    near.append(int(built.blocks[place] >> BEGIN_BITS) * NEAR_STEP)
                place += 1
            assert near
            assert min(near) <= distance
            met += 1
    assert met > 2000


def test_rays_of_a_track_with_more_views_than_the_tables_hold(track: Track, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are left out look at every wall instead."""
    monkeypatch.setattr(tables, "MAX_BLOCKS", 200)
    assert len(build_tables(track.geometry).blocks) <= 200
    assert_observes_like_brute_force(track, along(track, 200), np.linspace(-3, 3, 200))


def test_nearest_point_on_a_track_with_more_cells_than_the_tables_hold(
    track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cars in those that are left out look at everything."""
    monkeypatch.setattr(tables, "MAX_LISTED", 60)
    built = build_tables(track.geometry)
    assert max(len(built.near), len(built.contact_ranges), len(built.sample_ranges)) <= 60
    assert_observes_like_brute_force(track, along(track, 200), np.linspace(-3, 3, 200))


def assert_observes_like_brute_force(track: Track, positions: FloatArray, headings: FloatArray) -> None:
    """Place cars and compare their rays and nearest centre points with those of the helpers."""
    simulator = Simulator([track], len(positions), TEST_CONFIG)
    poses = np.column_stack([positions, headings])
    simulator.place(range(len(positions)), [Start(*pose) for pose in poses])
    rays = [ray_distances(track.geometry, *pose) for pose in poses]
    arc_lengths, distances = nearest_centre(track.geometry, positions[:, 0], positions[:, 1])
    observations = simulator.observations
    np.testing.assert_allclose(observations[:, :9] * 200, rays, rtol=0, atol=1e-8)
    np.testing.assert_allclose(simulator.cars["centre_distance"], distances, rtol=0, atol=1e-9)
    np.testing.assert_allclose(observations[:, 12] * track.length, arc_lengths, rtol=0, atol=1e-8)
    np.testing.assert_allclose(observations[:, 13], np.minimum(1.0, distances / 80), rtol=0, atol=1e-11)


def test_wall_contact_equals_looking_at_every_wall(tracks: list[Track]) -> None:
    """Wall contact while driving is what the distance to the nearest of all wall segments says."""
    track = tracks[2]
    simulator = Simulator([track], 16, TEST_CONFIG)
    contacts = 0
    for actions in random_actions(5, 250, 16):
        actions[:, 1:] = 1.0, 0.0
        simulator.step(actions)
        for car, info in zip(simulator.cars[:4], simulator.infos[:4], strict=True):
            assert info["wallContact"] == (wall_distance(track.geometry, car["x"], car["y"]) < 2.0)
            contacts += int(info["wallContact"])
    assert contacts > 20


@pytest.mark.parametrize("where", [(600.0, 40.0), (-250.0, 3e3), (1e4, -5e3), (-1e7, 1e7), (1e15, 0.0)])
def test_car_far_outside_the_walls(simulator: Simulator, where: tuple[float, float]) -> None:
    """A car beyond everything sees what is there, is off the track, and drives on without harm."""
    geometry = simulator.tracks[0].geometry
    place(simulator, Start(*where, 2.5, 100.0))
    np.testing.assert_allclose(simulator.observations[0, :9] * 200, ray_distances(geometry, *where, 2.5), atol=1e-8)
    assert simulator.observations[0, 13] == 1.0
    for action in random_actions(2, 100):
        simulator.step(action[None])
        assert simulator.infos[0]["offTrack"] == -0.001
        assert not simulator.infos[0]["wallContact"]
        assert np.isfinite(simulator.observations).all() and np.isfinite(simulator.rewards).all()


@pytest.mark.parametrize("where", [(600.0, 40.0), (-250.0, 3e3), (1e4, -5e3)])
def test_nearest_point_of_a_car_far_outside(simulator: Simulator, where: tuple[float, float]) -> None:
    """A car beyond everything has the nearest centre point that looking at every sample finds."""
    place(simulator, Start(*where, 0.0))
    expected = nearest_centre(simulator.tracks[0].geometry, *where)
    car = simulator.cars[0]
    assert (car["arc_length"], car["centre_distance"]) == pytest.approx(expected, rel=0, abs=1e-6)


def test_car_just_outside_a_wall_sees_it(simulator: Simulator) -> None:
    """A car 50 units outside the outer wall that faces it sees it at 50 units."""
    geometry = simulator.tracks[0].geometry
    x, y, outwards = beside_wall(geometry, -50.0)
    place(simulator, Start(x, y, outwards + math.pi))
    assert simulator.observations[0, 4] * 200 == pytest.approx(50.0, abs=1e-6)
    expected = ray_distances(geometry, x, y, outwards + math.pi)
    np.testing.assert_allclose(simulator.observations[0, :9] * 200, expected, atol=1e-8)


# --- Many cars and one ---


def run_one(track: Track, start: Start, actions: FloatArray) -> list[Any]:
    """Drive a car that is alone and return everything at the end."""
    simulator = Simulator([track], 1, TEST_CONFIG)
    return rerun_one(simulator, start, actions)


def rerun_one(simulator: Simulator, start: Start, actions: FloatArray) -> list[Any]:
    """Drive the only car of a simulator from a start and return everything at the end."""
    simulator.place([0], [start])
    for action in actions:
        simulator.step(action[None])
    return states(simulator)


@pytest.mark.parametrize("num_cars", [2, 9, 64])
def test_batch_equals_single_cars(track: Track, num_cars: int) -> None:
    """N cars in a batch do, bit for bit, what each does alone."""
    random = np.random.default_rng(num_cars)
    starts = [standing_start(track.geometry)]
    starts += [start_for(track.geometry, random_placement(track.geometry, random)) for _ in range(num_cars - 1)]
    actions = random_actions(num_cars, 120, num_cars)
    batch = Simulator([track], num_cars, TEST_CONFIG)
    batch.place(range(num_cars), starts)
    for row in actions:
        batch.step(row)
    many, alone = states(batch), Simulator([track], 1, TEST_CONFIG)
    for car, start in enumerate(starts):
        assert_identical(many, car, rerun_one(alone, start, actions[:, car]))


def test_placing_again_equals_a_fresh_simulator(track: Track) -> None:
    """Nothing of an episode is left in the next one."""
    start, actions = standing_start(track.geometry), random_actions(8, 200)
    used = Simulator([track], 1, TEST_CONFIG)
    rerun_one(used, start, random_actions(9, 400))
    assert_identical(rerun_one(used, start, actions), 0, run_one(track, start, actions))


@pytest.mark.parametrize(("copies", "count"), [(1, 9), (22, 70)])
def test_tracks_in_one_batch_equal_separate_ones(
    tracks: list[Track], copies: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cars on several tracks in one batch do, bit for bit, what they do on a track alone; so many are fetched for."""
    assert 3 < CACHED_TRACKS < 66
    assert 9 < GROUP < 70
    build_once = functools.cache(build_tables)  # of each track; so many take seconds to build
    monkeypatch.setattr(
        "racer_env.simulator.simulator.build_all_tables", lambda many: concatenate_tables([build_once(g) for g in many])
    )
    random = np.random.default_rng(0)
    batch = Simulator(tracks * copies, count, TEST_CONFIG)
    geometries = [batch.track_of(car).geometry for car in range(count)]
    starts = [start_for(geometry, random_placement(geometry, random)) for geometry in geometries]
    actions = random_actions(4, 200, count)
    batch.place(range(count), starts)
    for row in actions:
        batch.step(row)
    many = states(batch)
    for index, track in enumerate(tracks):
        alone = Simulator([track], 1, TEST_CONFIG)
        for car in range(index, count, 3):
            assert_identical(many, car, rerun_one(alone, starts[car], actions[:, car]))


def test_cars_take_the_tracks_in_turn(tracks: list[Track]) -> None:
    """Car i drives on track i modulo the number of tracks."""
    simulator = Simulator(tracks, 7)
    assert [simulator.track_of(car).id[-1] for car in range(7)] == list("1231231")


def test_placing_some_cars_leaves_the_others(track: Track) -> None:
    """Beginning an episode for one car changes neither state nor observation of another."""
    simulator = Simulator([track], 3, TEST_CONFIG)
    for actions in random_actions(6, 30, 3):
        simulator.step(actions)
    before = [(simulator.cars[car].tobytes(), simulator.observations[car].tobytes()) for car in (0, 2)]
    place_at(simulator, 400.0, car=1)
    assert [(simulator.cars[car].tobytes(), simulator.observations[car].tobytes()) for car in (0, 2)] == before


def test_arrays_stay_the_same_objects(simulator: Simulator) -> None:
    """A step writes in place, so that whoever holds an array sees the new tick."""
    held = simulator.cars, simulator.observations, simulator.infos, simulator.rewards
    step(simulator, throttle=1.0)
    assert held[0]["tick"][0] == held[2]["tick"][0] == 1
    for array, name in zip(held, ("cars", "observations", "infos", "rewards"), strict=True):
        assert getattr(simulator, name) is array


def test_standing_start_is_at_rest_on_the_line(simulator: Simulator) -> None:
    """A new simulator's car stands at the start, on lap 1, everything else 0."""
    car, geometry = simulator.cars[0], simulator.tracks[0].geometry
    assert (car["x"], car["y"], car["heading"]) == geometry.start
    zero = ("vx", "vy", "yaw_rate", "speed", "steer", "throttle", "brake", "surface", "checkpoint", "tick")
    assert [car[name] for name in zero] == [0] * len(zero)
    assert car["lap"] == 1


@pytest.mark.parametrize(("group", "key", "value"), [("rays", "maxDistance", 250), ("car", "width", 7)])
def test_physics_beyond_the_tables_are_refused(group: str, key: str, value: float) -> None:
    """Rays or contacts that reach farther than the tables look are an error, not a wrong number."""
    document = json.loads(DEFAULT_PHYSICS_PATH.read_text(encoding="utf-8"))
    document[group][key] = value
    with pytest.raises(ConfigError, match="tables reach 200 and 4"):
        Simulator([load_track("track-01", physics=Physics(document))])


def test_tables_of_many_tracks_are_those_of_each(tracks: list[Track]) -> None:
    """Built side by side, they are what one after the other makes."""
    geometries = [track.geometry for track in tracks]
    together = build_all_tables(geometries)
    for name, array in concatenate_tables([build_tables(geometry) for geometry in geometries])._asdict().items():
        assert np.array_equal(getattr(together, name), array), name


@pytest.mark.parametrize("count", [1, 2, 3])
def test_tables_begin_at_cache_lines(tracks: list[Track], count: int) -> None:
    """So that a cell's views, for one, are in one line."""
    together = build_all_tables([track.geometry for track in tracks[:count]])
    assert {name: array.ctypes.data % CACHE_LINE for name, array in together._asdict().items()} == dict.fromkeys(
        Tables._fields, 0
    )


@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_a_generated_track_stay_small(kind: str) -> None:
    """Below 120 kB even for long ones, so that hundreds of tracks fit into a processor's cache."""
    made = sorted((generate_track(1, number, kind) for number in range(60)), key=lambda track: track.length)
    sizes = [sum(array.nbytes for array in build_tables(track.geometry)) for track in made[-12:]]
    assert max(sizes) < 120_000
