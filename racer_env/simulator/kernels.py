"""One tick of the game for many cars, compiled by Numba.

This module is the only place that knows the game's rules in Python: car, collision, surface, timing,
reward, observation. ``docs/simulation.md`` is their definition. Everything is float64 and follows the
definition's order of operations, so that every bit is the one that the bridge's engine computes; ``math`` is for roots
and rounding alone. The tables only spare work that cannot change a result.

All compiled functions but sine and its like live in this file, because Numba's cache notices a change only in the
file of the function that is called from Python. What comes from other files is part of a type's name, see ``tables``.
"""

import dataclasses
import math

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from racer_env.contract import (
    BRAKE,
    DT,
    OBSERVED_ARC_LENGTH,
    OBSERVED_CENTRE_DISTANCE,
    OBSERVED_SPEED,
    OBSERVED_STEER,
    OBSERVED_YAW_RATE,
    RAY_COUNT,
    STEER,
    THROTTLE,
    EpisodeLimits,
    RewardWeights,
)
from racer_env.simulator.compile_cache import cached_njit
from racer_env.simulator.compiled_fdlibm import acos, atan2, sin_cos
from racer_env.simulator.table_kernels import BEGIN_BITS, BEGIN_UNIT, BLOCK, CELL, NEAR_STEP, SAFETY, VIEW_DIRECTIONS
from racer_env.simulator.tables import CACHE_LINE, CONTACT_REACH
from racer_env.simulator.vectors import crossed, lowest, nearest_point, reached
from racer_env.tracks.geometry import CHORDS_PER_SEGMENT, MIN_CHORD

ROAD, RUNOFF, SHOULDER = 0, 1, 2  # surface codes
SHOULDER_WIDTH = 24.0  # units beyond the road's edge
SEARCH_ROUNDS = 16  # of the ternary search for the nearest centre point
SWEEP_STEP = 0.75  # units between the collision tests of one move
PUSH_OUT = 0.8  # units beyond the penetration after a hit
PUSH_OUT_LEAVING = 0.5  # units, when the car was leaving the wall already
REBOUND = 0.08  # share of speed that a wall gives back along its normal
HARD_IMPACT = 0.5  # impact (0 glancing, 1 head-on) above which the car is turned
WALL_TURN = 0.4  # share of the way to the wall's direction at the hardest impact
YAW_LOSS = 0.5  # share of the yaw rate lost at the hardest impact
MIN_FORCE_SPEED = 0.01  # units/s; below it resistance does not act
MIN_IMPACT_SPEED = 1e-6  # units/s
PARALLEL = 1e-10  # cross product below which two lines do not meet
MIN_SEGMENT = 1e-10  # squared length below which a wall segment is a point
REACH_SQUARED = (CONTACT_REACH + SAFETY) ** 2
MIN_CONTACT_DISTANCE = 1e-10  # units; nearer than this a contact's normal is (0, 1)

CAR_DTYPE = np.dtype(
    [
        ("x", np.float64),
        ("y", np.float64),
        ("vx", np.float64),
        ("vy", np.float64),
        ("heading", np.float64),
        ("yaw_rate", np.float64),
        ("speed", np.float64),
        ("steer", np.float64),
        ("throttle", np.float64),
        ("brake", np.float64),
        ("arc_length", np.float64),  # of the nearest centre point
        ("centre_distance", np.float64),  # to it
        ("surface", np.int64),
        ("lap", np.int64),  # 1 on the first lap; 0 before the line is first crossed after a start elsewhere
        ("checkpoint", np.int64),  # last gate
        ("tick", np.int64),
        ("step_count", np.int64),
        ("stillness_counter", np.int64),
        ("track", np.int64),  # index into the tables
    ],
    align=True,
)
# Reward weights and episode limits; the weight of progress belongs to the track.
RULES_DTYPE = np.dtype(
    [(field.name, np.float64) for field in dataclasses.fields(RewardWeights) if field.name != "progress"]
    + [(field.name, np.int64) for field in dataclasses.fields(EpisodeLimits)],
    align=True,
)
# A running search for the nearest centre point.
SEARCH_DTYPE = np.dtype(
    [(name, np.float64) for name in ("low", "high", "arc_length", "distance_squared")]
    + [(name, np.int64) for name in ("low_chord", "high_chord")],  # chords near the ends of the interval
    align=True,
)
NOT_FINITE = -1  # instead of a number of cars
GROUP = 32  # cars that do their tick together, so that what they need of the tables can be asked for before
CACHED_TRACKS = 64  # what cars on so many look at, some 4 kB each, stays in a processor's cache from tick to tick
FLOATS_IN_LINE = CACHE_LINE // 8
# Where the fields of LANES settled searches begin in one flat array: the search itself, the segment's cubics
# relative to the car, the parameter t at arc length SPLIT, the rates of t in arc length before and from there, and how
# many rounds are left.
LANES = 8
LANE_FIELDS = 19
LOW, HIGH, ARC_LENGTH, DISTANCE_SQUARED, X3, X2, X1, X0, X, Y3, Y2, Y1, Y0, Y, SPLIT, T, RATE_BEFORE, RATE, ROUNDS = (
    field * LANES for field in range(LANE_FIELDS)
)


@cached_njit(error_model="numpy")
def step_cars(tables, physics, rules, cars, actions, observations, infos, rewards, terminated, truncated):
    """Advance every car by one tick.

    Args:
        tables: The tracks' Tables.
        physics: (1,) PHYSICS_DTYPE.
        rules: (1,) RULES_DTYPE.
        cars: (N,) CAR_DTYPE, changed in place.
        actions: (N, 3) steer, throttle, brake; finite, of any size.
        observations: (N, 14), written.
        infos: (N,) INFO_DTYPE, written.
        rewards: (N,), written.
        terminated, truncated: (N,) bool, written.

    Returns:
        How many cars' episodes ended; NOT_FINITE, and nothing has moved, if a number of the actions is not finite.
    """
    if not _are_finite(actions):
        return NOT_FINITE
    tracks, finished = tables.tracks, 0
    old = np.empty((len(cars), 3))
    turned = np.empty((len(cars), 2))  # sine and cosine of the heading
    wall_distance = np.empty(len(cars))
    indices = np.arange(len(cars))
    for first in range(0, len(cars), GROUP):
        group = indices[first : first + GROUP]
        if min(len(tracks), len(cars)) > CACHED_TRACKS:
            _fetch(tables, physics[0], cars, group)
        for i in group:
            car = cars[i]
            old[i, 0], old[i, 1], old[i, 2] = car.x, car.y, car.arc_length
            sin, cos = _drive(car, physics[0], actions[i, STEER], actions[i, THROTTLE], actions[i, BRAKE])
            heading = car.heading
            wall_distance[i] = _collide(tracks[car.track], tables, car, physics[0], old[i, 0], old[i, 1])
            turned[i, 0], turned[i, 1] = (sin, cos) if car.heading == heading else sin_cos(car.heading)
        _locate(tables, cars, group)
        for i in group:
            car = cars[i]
            track = tracks[car.track]
            _time_gates(track, tables.gates, car, old[i, 0], old[i, 1])
            _reward(track, wall_distance[i], physics[0], rules[0], car, old[i, 2], infos[i])
            rewards[i] = _sum_components(infos[i])
            terminated[i] = car.stillness_counter >= rules[0].stillness_timeout_ticks
            truncated[i] = car.step_count >= rules[0].max_steps
            finished += terminated[i] | truncated[i]
            sin, cos = turned[i, 0], turned[i, 1]
            _observe(track, tables, car, sin, cos, physics[0], observations[i])
    return finished


@cached_njit(error_model="numpy")
def place_cars(tables, physics, cars, indices, observations):
    """Find the nearest centre points of freshly placed cars and observe.

    The surface starts as road, whatever is under the car.

    Args:
        tables, physics, cars, observations: As for ``step_cars``.
        indices: (K,) the cars to do.
    """
    _locate(tables, cars, indices)
    for i in indices:
        car = cars[i]
        car.surface = ROAD
        sin, cos = sin_cos(car.heading)
        track = tables.tracks[car.track]
        _observe(track, tables, car, sin, cos, physics[0], observations[i])


@intrinsic
def _prefetch(_context, array, index):
    """Ask for the cache line where a row of an array begins, without waiting for it."""

    def generate(context, builder, signature, values):
        array_type = signature.args[0]
        view = context.make_array(array_type)(context, builder, values[0])
        indices = [values[1], *[context.get_constant(types.int64, 0)] * (array_type.ndim - 1)]
        row = cgutils.get_item_pointer(context, builder, array_type, view, indices)
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, flag, flag, flag])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [cgutils.voidptr_t], kind)
        to_read, into_all_caches, data = flag(0), flag(3), flag(1)
        builder.call(prefetch, [builder.bitcast(row, cgutils.voidptr_t), to_read, into_all_caches, data])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@njit(error_model="numpy")
def _fetch(tables, physics, cars, group):
    """Ask for what the cars of a group will need of the tables.

    Without it, cars on hundreds of tracks would wait for one cache line after the other. It has four stages, as one
    table tells where to look in the next: for each ray, in the first block of walls; and near the centre line, in the
    first range of samples. It may ask for what is past the end of a table, which does no harm.
    """
    numbers, samples, ranges = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64), np.empty(GROUP, np.int64)
    blocks = np.empty((GROUP, RAY_COUNT), np.int64)
    for k in range(len(group)):
        car = cars[group[k]]
        track = tables.tracks[car.track]
        numbers[k] = _cell(track, car.x, car.y)
        _prefetch(tables.cells, numbers[k])
        sample = int(car.arc_length / track.total_length * track.sample_count)
        samples[k] = track.first_sample + min(max(sample, 0), track.sample_count - 1)
        _prefetch(tables.sample_chords, samples[k])
        _prefetch(tables.gates, track.first_gate + car.checkpoint + 1)
    for k in range(len(group)):
        track = tables.tracks[cars[group[k]].track]
        numbers[k] = tables.cells[numbers[k]]
        _prefetch(tables.views, track.first_view + numbers[k] * VIEW_DIRECTIONS)
        _prefetch(tables.near, track.first_near + numbers[k])
        chord = tables.sample_chords[samples[k]]
        _prefetch(tables.chords, track.first_chord + chord)
        segment = track.first_segment + chord // CHORDS_PER_SEGMENT
        _prefetch(tables.segments, segment)
        _prefetch(tables.segments, segment + 1)  # where this one may end
    step = physics.ray_field_of_view / (RAY_COUNT - 1)
    for k in range(len(group)):
        car = cars[group[k]]
        track = tables.tracks[car.track]
        first_view = track.first_view + numbers[k] * VIEW_DIRECTIONS
        angle = car.heading - physics.ray_field_of_view / 2.0
        for ray in range(RAY_COUNT):
            blocks[k, ray] = track.first_block + tables.views[first_view + _direction(angle + ray * step)]
            _prefetch(tables.blocks, blocks[k, ray])
        near = tables.near[track.first_near + numbers[k]]
        _prefetch(tables.contact_ranges, track.first_contact_range + near.contact)
        ranges[k] = track.first_sample_range + near.sample
        _prefetch(tables.sample_ranges, ranges[k])
    for k in range(len(group)):
        track = tables.tracks[cars[group[k]].track]
        first = track.first_sample + np.int64(tables.sample_ranges[ranges[k], 0])
        for ahead in range(0, 2 * BLOCK + 1, FLOATS_IN_LINE):
            _prefetch(tables.sample_x, first + ahead)
            _prefetch(tables.sample_y, first + ahead)
        before = np.int64(-1)
        for ray in range(RAY_COUNT):
            begin = np.int64(tables.blocks[blocks[k, ray]]) & (1 << BEGIN_BITS) - 1
            if begin == before:  # neighbours often look at the same block
                continue
            before, first = begin, np.int64(track.first_wall) + begin * BEGIN_UNIT
            for ahead in range(0, BLOCK + 1, FLOATS_IN_LINE):
                _prefetch(tables.wall_x, first + ahead)
                _prefetch(tables.wall_y, first + ahead)


@njit(forceinline=True, error_model="numpy")
def _cell(track, x, y):
    """Return the place in the table of the cell that holds a point, or of the nearest one."""
    column = min(max(int((x - track.grid_x) * (1.0 / CELL)), 0), track.columns - 1)
    row = min(max(int((y - track.grid_y) * (1.0 / CELL)), 0), track.rows - 1)
    return track.first_cell + row * track.columns + column


@njit(forceinline=True, error_model="numpy")
def _direction(angle):
    """Return the bin of directions that holds an angle."""
    return math.floor(angle * (VIEW_DIRECTIONS / (2.0 * math.pi))) & (VIEW_DIRECTIONS - 1)


@njit(error_model="numpy")
def _are_finite(actions):
    are_finite = True
    for numbers in actions:
        for number in numbers:
            are_finite &= abs(number) < np.inf
    return are_finite


@njit(error_model="numpy")
def _clamp(value, low, high):
    return min(max(value, low), high)


@njit(error_model="numpy")
def _wrap_angle(angle):
    while angle > math.pi:
        angle -= 2.0 * math.pi
    while angle < -math.pi:
        angle += 2.0 * math.pi
    return angle


@njit(error_model="numpy")
def _drive(car, physics, steer, throttle, brake):
    """Move the car by one tick as if there were no walls; return sine and cosine of its heading."""
    grip, speed_factor = physics.road_grip, physics.road_speed
    if car.surface == RUNOFF:
        grip, speed_factor = physics.runoff_grip, physics.runoff_speed
    elif car.surface == SHOULDER:
        grip, speed_factor = physics.shoulder_grip, physics.shoulder_speed
    speed = car.speed

    car.steer += (_clamp(steer, -1.0, 1.0) - car.steer) * physics.steer_response
    car.throttle += (_clamp(throttle, 0.0, 1.0) - car.throttle) * physics.throttle_response
    car.brake += (_clamp(brake, 0.0, 1.0) - car.brake) * physics.brake_response
    wheel_angle = -car.steer * physics.max_wheel_angle * (1.0 / (1.0 + speed * physics.steering_speed_factor))

    old_heading = car.heading
    if speed > physics.low_speed:
        half = physics.wheelbase / 2.0
        move = speed * DT
        sin, cos = sin_cos(old_heading)
        wheel_sin, wheel_cos = sin_cos(old_heading + wheel_angle)
        rear_x, rear_y = (move - half) * cos, (move - half) * sin
        front_x, front_y = half * cos + move * wheel_cos, half * sin + move * wheel_sin
        heading = atan2(front_y - rear_y, front_x - rear_x)
    else:
        heading = old_heading + wheel_angle * (speed / physics.low_speed) * DT
    car.heading = heading
    car.yaw_rate = _wrap_angle(heading - old_heading) / DT

    engine = car.throttle * physics.max_engine_force * speed_factor
    resistance = (
        car.brake * physics.max_brake_force
        + physics.drag_coefficient * speed * speed / speed_factor
        + physics.rolling_resistance
    )
    if speed > physics.reverse_brake_speed:
        net = engine - resistance
    elif speed > MIN_FORCE_SPEED:
        net = engine - min(resistance, speed / DT * physics.mass)
    else:
        net = engine
    forward = _clamp(speed + net / physics.mass * DT, 0.0, physics.max_speed)

    sin, cos = sin_cos(heading)
    lateral = -car.vx * sin + car.vy * cos
    share = min(speed / physics.max_speed, 1.0)
    traction = physics.slow_traction + (physics.fast_traction - physics.slow_traction) * share
    lateral *= 1.0 - traction * grip
    vx, vy = forward * cos - lateral * sin, forward * sin + lateral * cos
    new_speed = math.sqrt(vx * vx + vy * vy)
    if new_speed > physics.max_speed:
        scale = physics.max_speed / new_speed
        vx, vy, new_speed = vx * scale, vy * scale, physics.max_speed
    if vx * cos + vy * sin < 0.0 and new_speed < physics.low_speed:
        vx, vy, new_speed = 0.0, 0.0, 0.0
    car.vx, car.vy, car.speed = vx, vy, new_speed
    car.x += vx * DT
    car.y += vy * DT
    return sin, cos


@njit(error_model="numpy")
def _nearest_wall(track, tables, x, y):
    """Return (distance, contact x, contact y) of the nearest wall point; the distance is infinite beyond reach."""
    wall_x, wall_y, contact_ranges = tables.wall_x, tables.wall_y, tables.contact_ranges
    contact_x, contact_y = 0.0, 0.0
    number = track.first_near + tables.cells[_cell(track, x, y)]
    first_wall = np.int64(track.first_wall)
    nearest = np.inf
    # Numba makes slow code of sums of signed numbers with unsigned ones.
    begin = track.first_contact_range + np.int64(tables.near[number].contact)
    end = track.first_contact_range + np.int64(tables.near[number + 1].contact)
    for r in range(begin, end):
        stop = first_wall + np.int64(contact_ranges[r, 1])
        for block in range(first_wall + np.int64(contact_ranges[r, 0]), stop, BLOCK):
            segments = reached(wall_x, wall_y, block, x, y, REACH_SQUARED)
            while segments:
                j = block + lowest(segments)
                segments &= segments - 1
                ax, ay = wall_x[j], wall_y[j]
                ex, ey = wall_x[j + 1] - ax, wall_y[j + 1] - ay
                squared = ex * ex + ey * ey
                t = 0.0 if squared < MIN_SEGMENT else _clamp(((x - ax) * ex + (y - ay) * ey) / squared, 0.0, 1.0)
                px, py = ax + t * ex, ay + t * ey
                distance_squared = (x - px) * (x - px) + (y - py) * (y - py)
                if distance_squared < nearest:
                    nearest, contact_x, contact_y = distance_squared, px, py
    return math.sqrt(nearest), contact_x, contact_y


@njit(error_model="numpy")
def _collide(track, tables, car, physics, old_x, old_y):
    """Sweep the move from the old position; stop at the first wall contact and resolve it.

    Returns:
        The distance of the nearest wall from where the car is then, infinite beyond reach.
    """
    radius = physics.width / 2.0
    dx, dy = car.x - old_x, car.y - old_y
    moved = math.sqrt(dx * dx + dy * dy)
    distance, contact_x, contact_y = _nearest_wall(track, tables, car.x, car.y)
    # Most moves end so far from any wall that no point of them can be at one.
    clear = radius + moved + SAFETY
    if clear < CONTACT_REACH and distance >= clear:
        return distance
    tests = math.ceil(moved / SWEEP_STEP) if moved > SWEEP_STEP else 1
    for i in range(1, tests):
        x, y = old_x + dx * (i / tests), old_y + dy * (i / tests)
        before, before_x, before_y = _nearest_wall(track, tables, x, y)
        if before < radius:
            car.x, car.y = x, y
            distance, contact_x, contact_y = before, before_x, before_y
            break
    if distance < radius:
        _resolve_contact(car, physics, distance, contact_x, contact_y)
        distance = _nearest_wall(track, tables, car.x, car.y)[0]
    return distance


@njit(error_model="numpy")
def _resolve_contact(car, physics, distance, contact_x, contact_y):
    penetration = physics.width / 2.0 - distance
    nx, ny = 0.0, 1.0
    if distance >= MIN_CONTACT_DISTANCE:
        nx, ny = (car.x - contact_x) / distance, (car.y - contact_y) / distance
    along_normal = car.vx * nx + car.vy * ny
    if along_normal >= 0.0:
        car.x += nx * (penetration + PUSH_OUT_LEAVING)
        car.y += ny * (penetration + PUSH_OUT_LEAVING)
        return
    speed = car.speed
    tx, ty = car.vx - nx * along_normal, car.vy - ny * along_normal
    car.vx = (1.0 - physics.wall_friction) * tx + nx * (REBOUND * speed)
    car.vy = (1.0 - physics.wall_friction) * ty + ny * (REBOUND * speed)
    car.speed = math.sqrt(car.vx * car.vx + car.vy * car.vy)
    car.x += nx * (penetration + PUSH_OUT)
    car.y += ny * (penetration + PUSH_OUT)

    ratio = math.sqrt(tx * tx + ty * ty) / speed if speed > MIN_IMPACT_SPEED else 0.0
    impact = acos(_clamp(ratio, 0.0, 1.0)) / (math.pi / 2.0)
    if impact > HARD_IMPACT:
        hardness = 2.0 * (impact - HARD_IMPACT)
        target = atan2(nx, -ny) if tx * -ny + ty * nx >= 0.0 else atan2(-nx, ny)
        car.heading += _wrap_angle(target - car.heading) * WALL_TURN * hardness
        car.yaw_rate *= 1.0 - YAW_LOSS * hardness


@njit(forceinline=True, error_model="numpy")
def _chord_at(chords, near, distance):
    """Return the last chord that begins at or before an arc length in [0, total length), searched from one near it."""
    chord = near
    while chords[chord] > distance:
        chord -= 1
    chord += 1 if chords[chord + 1] <= distance else 0  # the common case, without a branch
    while chords[chord + 1] <= distance:
        chord += 1
    return chord


@njit(forceinline=True, error_model="numpy")
def _chord_near(track, sample_chords, distance):
    """Return a chord near an arc length in [0, total length)."""
    sample = min(int(distance / track.sample_spacing), track.sample_count - 1)
    return track.first_chord + np.int64(sample_chords[track.first_sample + sample])


@njit(forceinline=True, error_model="numpy")
def _rate_of(chords, chord):
    """Return how much the spline's parameter grows per unit of a chord's arc length."""
    length = chords[chord + 1] - chords[chord]
    return 0.0 if length < MIN_CHORD else 1.0 / CHORDS_PER_SEGMENT / length


@njit(forceinline=True, error_model="numpy")
def _distance_squared_on(track, segments, chords, chord, distance, x, y):
    """Return the squared distance of (x, y) from the centre line's point at an arc length, which is on a chord."""
    index = chord - track.first_chord
    segment = index // CHORDS_PER_SEGMENT
    t = (index - segment * CHORDS_PER_SEGMENT) * (1.0 / CHORDS_PER_SEGMENT)
    t += (distance - chords[chord]) * _rate_of(chords, chord)
    s = segments[track.first_segment + segment]
    dx = ((s.x3 * t + s.x2) * t + s.x1) * t + s.x0 - x
    dy = ((s.y3 * t + s.y2) * t + s.y1) * t + s.y0 - y
    return dx * dx + dy * dy


@njit(forceinline=True, error_model="numpy")
def _wrap(track, distance):
    """Return an arc length within a lap of [0, total length) as one in it."""
    if distance < 0.0:
        distance += track.total_length
    if distance >= track.total_length:
        distance -= track.total_length
    return distance


@njit(error_model="numpy")
def _begin_search(track, cells, near, sample_ranges, sample_x, sample_y, sample_chords, car, search):
    """Find the coarse sample nearest to a car and the interval around it."""
    number = track.first_near + cells[_cell(track, car.x, car.y)]
    begin = track.first_sample_range + np.int64(near[number].sample)
    end = track.first_sample_range + np.int64(near[number + 1].sample)
    best, nearest = track.first_sample, np.inf
    for r in range(begin, end):
        stop = track.first_sample + np.int64(sample_ranges[r, 1])
        for block in range(track.first_sample + np.int64(sample_ranges[r, 0]), stop, BLOCK):
            squared, place = nearest_point(sample_x, sample_y, block, car.x, car.y)
            if squared < nearest:
                best, nearest = block + place, squared
    search.arc_length = (best - track.first_sample) * track.total_length / track.sample_count
    search.distance_squared = nearest
    search.low = search.arc_length - track.sample_spacing
    search.high = search.arc_length + track.sample_spacing
    before = best - 1 if best > track.first_sample else best + track.sample_count - 1
    search.low_chord = track.first_chord + np.int64(sample_chords[before])
    search.high_chord = track.first_chord + np.int64(sample_chords[best])


@njit(forceinline=True, error_model="numpy")
def _narrow_anywhere(track, segments, chords, car, search):
    """Do one round of the ternary search."""
    third = (search.high - search.low) / 3.0
    m1, m2 = search.low + third, search.high - third
    at1, at2 = _wrap(track, m1), _wrap(track, m2)
    chord1, chord2 = _chord_at(chords, search.low_chord, at1), _chord_at(chords, search.high_chord, at2)
    d1 = _distance_squared_on(track, segments, chords, chord1, at1, car.x, car.y)
    d2 = _distance_squared_on(track, segments, chords, chord2, at2, car.x, car.y)
    squared, middle = d2, m2
    if d1 < d2:
        search.high, search.high_chord = m2, chord2
        squared, middle = d1, m1
    else:
        search.low, search.low_chord = m1, chord1
    if squared < search.distance_squared:
        search.distance_squared, search.arc_length = squared, middle


@njit(error_model="numpy")
def _settle(track, segments, chords, car, search, rounds, lanes, lane):
    """Put a search into a lane, with its spline, if its interval is on one chord, or on two of a segment at first.

    Args:
        rounds: How many are left.

    Returns:
        Whether it is such a search; most are after the first round.
    """
    if search.low < 0.0 or search.high >= track.total_length:
        return False
    chord = _chord_at(chords, search.high_chord, search.high)
    before = _chord_at(chords, search.low_chord, search.low)
    search.low_chord, search.high_chord = before, chord
    index = chord - track.first_chord
    segment = index // CHORDS_PER_SEGMENT
    is_first = rounds == SEARCH_ROUNDS - 1
    if chord - before > is_first or (before - track.first_chord) // CHORDS_PER_SEGMENT != segment:
        return False
    s = segments[track.first_segment + segment]
    lanes[LOW + lane], lanes[HIGH + lane] = search.low, search.high
    lanes[ARC_LENGTH + lane], lanes[DISTANCE_SQUARED + lane] = search.arc_length, search.distance_squared
    # A search is rounded in one way or the other from the first round on.
    x, y = (car.x, car.y) if is_first else (0.0, 0.0)
    lanes[X3 + lane], lanes[X2 + lane], lanes[X1 + lane], lanes[X0 + lane] = s.x3, s.x2, s.x1, s.x0 - x
    lanes[Y3 + lane], lanes[Y2 + lane], lanes[Y1 + lane], lanes[Y0 + lane] = s.y3, s.y2, s.y1, s.y0 - y
    lanes[X + lane], lanes[Y + lane] = car.x - x, car.y - y
    lanes[SPLIT + lane], lanes[ROUNDS + lane] = chords[chord], rounds
    lanes[T + lane] = (index - segment * CHORDS_PER_SEGMENT) * (1.0 / CHORDS_PER_SEGMENT)
    lanes[RATE_BEFORE + lane], lanes[RATE + lane] = _rate_of(chords, before), _rate_of(chords, chord)
    return True


@njit(error_model="numpy")
def _narrow_lanes(lanes):
    """Do the remaining rounds for LANES settled searches at once.

    Written so that it compiles to vector code without a branch: all offsets are constants, all reads come
    before the writes, and both outcomes are computed.
    """
    for done in range(SEARCH_ROUNDS - 1):
        for i in range(LANES):
            low, high = lanes[LOW + i], lanes[HIGH + i]
            arc_length, distance_squared = lanes[ARC_LENGTH + i], lanes[DISTANCE_SQUARED + i]
            split, t, rate_before, rate = lanes[SPLIT + i], lanes[T + i], lanes[RATE_BEFORE + i], lanes[RATE + i]
            third = (high - low) / 3.0
            m1, m2 = low + third, high - third
            t1 = t + (m1 - split) * (rate if m1 >= split else rate_before)
            t2 = t + (m2 - split) * (rate if m2 >= split else rate_before)
            x3, x2, x1, x0 = lanes[X3 + i], lanes[X2 + i], lanes[X1 + i], lanes[X0 + i]
            y3, y2, y1, y0 = lanes[Y3 + i], lanes[Y2 + i], lanes[Y1 + i], lanes[Y0 + i]
            x, y = lanes[X + i], lanes[Y + i]
            dx1, dy1 = ((x3 * t1 + x2) * t1 + x1) * t1 + x0 - x, ((y3 * t1 + y2) * t1 + y1) * t1 + y0 - y
            dx2, dy2 = ((x3 * t2 + x2) * t2 + x1) * t2 + x0 - x, ((y3 * t2 + y2) * t2 + y1) * t2 + y0 - y
            d1, d2 = dx1 * dx1 + dy1 * dy1, dx2 * dx2 + dy2 * dy2
            first = d1 < d2
            squared = d1 if first else d2
            middle = m1 if first else m2
            nearer = (squared < distance_squared) & (done < lanes[ROUNDS + i])
            lanes[LOW + i] = low if first else m1
            lanes[HIGH + i] = m2 if first else high
            lanes[ARC_LENGTH + i] = middle if nearer else arc_length
            lanes[DISTANCE_SQUARED + i] = squared if nearer else distance_squared


@njit(error_model="numpy")
def _locate(tables, cars, indices):
    """Find the cars' nearest centre points: arc length, distance, and the surface there."""
    tracks, segments, chords, sample_x, sample_y, sample_chords = tables[:6]
    cells, near, sample_ranges = tables.cells, tables.near, tables.sample_ranges
    searches = np.empty(LANES, SEARCH_DTYPE)
    settled = np.empty(LANES, np.int64)
    lanes = np.zeros(LANE_FIELDS * LANES)
    for first in range(0, len(indices), LANES):
        count = min(LANES, len(indices) - first)
        lane = np.int64(0)  # typed, or Numba would compile what takes it twice
        for k in range(count):
            car, search = cars[indices[first + k]], searches[k]
            track = tracks[car.track]
            _begin_search(track, cells, near, sample_ranges, sample_x, sample_y, sample_chords, car, search)
            for done in range(1, SEARCH_ROUNDS + 1):
                _narrow_anywhere(track, segments, chords, car, search)
                if done < SEARCH_ROUNDS and _settle(
                    track, segments, chords, car, search, SEARCH_ROUNDS - done, lanes, lane
                ):
                    settled[lane] = k
                    lane += 1
                    break
        if lane > 0:
            _narrow_lanes(lanes)
        for i in range(lane):
            search = searches[settled[i]]
            search.arc_length, search.distance_squared = lanes[ARC_LENGTH + i], lanes[DISTANCE_SQUARED + i]
        for k in range(count):
            car = cars[indices[first + k]]
            _end_search(tracks[car.track], segments, chords, sample_chords, searches[k], car)


@njit(error_model="numpy")
def _end_search(track, segments, chords, sample_chords, search, car):
    """Write what a finished search found into the car."""
    arc_length = _wrap(track, search.arc_length)
    car.arc_length = arc_length
    car.centre_distance = math.sqrt(search.distance_squared)

    near = search.high_chord if arc_length == search.arc_length else _chord_near(track, sample_chords, arc_length)
    segment = (_chord_at(chords, near, arc_length) - track.first_chord) // CHORDS_PER_SEGMENT
    s = segments[track.first_segment + segment]
    half_width = s.half_width + s.half_width_slope * (arc_length - s.start_length)
    if car.centre_distance <= half_width:
        car.surface = ROAD
    elif car.centre_distance <= half_width + SHOULDER_WIDTH:
        car.surface = SHOULDER
    else:
        car.surface = RUNOFF


@njit(error_model="numpy")
def _time_gates(track, gates, car, old_x, old_y):
    """Look whether the move crossed the expected gate."""
    expected = (car.checkpoint + 1) % track.gate_count
    gate = gates[track.first_gate + expected]
    mx, my = car.x - old_x, car.y - old_y
    gx, gy = gate.right_x - gate.left_x, gate.right_y - gate.left_y
    cross = mx * gy - my * gx
    if abs(cross) < PARALLEL or mx * gate.direction_x + my * gate.direction_y <= 0.0:
        return
    ox, oy = gate.left_x - old_x, gate.left_y - old_y
    along_move, along_gate = (ox * gy - oy * gx) / cross, (ox * my - oy * mx) / cross
    if 0.0 <= along_move <= 1.0 and 0.0 <= along_gate <= 1.0:
        car.checkpoint = expected
        if expected == 0:
            car.lap += 1


@njit(error_model="numpy")
def _reward(track, wall_distance, physics, rules, car, old_arc_length, info):
    """Count the tick and write the reward's components and the rest of the info."""
    length = track.total_length
    delta = car.arc_length - old_arc_length
    if delta > length / 2.0:
        delta -= length
    elif delta < -length / 2.0:
        delta += length
    contact = wall_distance < physics.width / 2.0 + physics.contact_padding
    still = car.speed < rules.stillness_speed_threshold
    car.stillness_counter = car.stillness_counter + 1 if still else 0
    car.tick += 1
    car.step_count += 1

    info.progress = track.progress_weight * delta / length
    info.speed = rules.speed_bonus * car.speed / physics.max_speed
    info.wall = rules.wall_penalty if contact else 0.0
    info.offTrack = rules.off_track_penalty if car.surface != ROAD else 0.0
    info.backward = rules.backward_penalty if delta < 0.0 else 0.0
    info.stillness = rules.stillness_penalty if still else 0.0
    info.tick = car.tick
    info.rawSpeed = car.speed
    info.lap = car.lap
    info.checkpoint = car.checkpoint
    info.stepCount = car.step_count
    info.wallContact = contact
    info.stillnessCounter = car.stillness_counter


@njit(error_model="numpy")
def _sum_components(info):
    return info.progress + info.speed + info.wall + info.offTrack + info.backward + info.stillness


@njit(error_model="numpy")
def _cast_rays(track, tables, car, sin, cos, physics, observation):
    """Write into the observation for every ray the distance to the first wall.

    Args:
        sin, cos: Of the heading.
    """
    wall_x, wall_y, views, blocks = tables.wall_x, tables.wall_y, tables.views, tables.blocks
    first_view = track.first_view + tables.cells[_cell(track, car.x, car.y)] * VIEW_DIRECTIONS
    first_wall = np.int64(track.first_wall)
    x, y = car.x, car.y
    angle = car.heading - physics.ray_field_of_view / 2.0
    step = physics.ray_field_of_view / (RAY_COUNT - 1)
    for ray in range(RAY_COUNT):
        dx = cos * physics.ray_cos[ray] - sin * physics.ray_sin[ray]
        dy = sin * physics.ray_cos[ray] + cos * physics.ray_sin[ray]
        place = track.first_block + views[first_view + _direction(angle + ray * step)]
        nearest = physics.ray_max_distance
        block = np.int64(blocks[place])
        while (block >> BEGIN_BITS) * NEAR_STEP < nearest:
            begin = first_wall + (block & (1 << BEGIN_BITS) - 1) * BEGIN_UNIT
            segments = crossed(wall_x, wall_y, begin, x, y, dx, dy)
            while segments:
                nearest = min(nearest, _hit(wall_x, wall_y, begin + lowest(segments), x, y, dx, dy))
                segments &= segments - 1
            place += 1
            block = np.int64(blocks[place])
        observation[ray] = nearest / physics.ray_max_distance


@njit(forceinline=True, error_model="numpy")
def _hit(wall_x, wall_y, j, x, y, dx, dy):
    """Return the distance from (x, y) along (dx, dy) to a wall segment, infinite if it does not meet it."""
    ox, oy = wall_x[j] - x, wall_y[j] - y
    ex, ey = wall_x[j + 1] - wall_x[j], wall_y[j + 1] - wall_y[j]
    cross, side = dx * ey - dy * ex, ox * dy - oy * dx
    t = (ox * ey - oy * ex) / cross
    # The lines meet at the share side / cross of the segment, which must be in [0, 1].
    meets = (abs(cross) >= PARALLEL) & (t >= 0.0) & (side * cross >= 0.0) & (abs(side) <= abs(cross))
    return t if meets else np.inf


@njit(error_model="numpy")
def _observe(track, tables, car, sin, cos, physics, observation):
    _cast_rays(track, tables, car, sin, cos, physics, observation)
    observation[OBSERVED_SPEED] = car.speed / physics.max_speed
    observation[OBSERVED_YAW_RATE] = _clamp(car.yaw_rate / physics.max_yaw_rate, -1.0, 1.0)
    observation[OBSERVED_STEER] = car.steer
    observation[OBSERVED_ARC_LENGTH] = car.arc_length / track.total_length
    observation[OBSERVED_CENTRE_DISTANCE] = min(1.0, car.centre_distance / physics.max_centre_distance)
