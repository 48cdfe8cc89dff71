"""One tick of the game for many cars, compiled by Numba.

This module is the only place that knows the game's rules in Python: car, collision, surface, timing,
reward, observation. ``docs/simulation.md`` is their definition. Everything is float64 and follows the
definition's order of operations; the tables only spare work that cannot change a result.

All compiled functions live in this file because Numba's cache notices a change only in the file of the
function that is called from Python.
"""

import math

import numpy as np
from numba import njit

from racer_env.physics import DT, RAY_COUNT
from racer_env.simulator.geometry import CHORDS_PER_SEGMENT
from racer_env.simulator.tables import CELL_SIZE

OBSERVATION_SIZE = RAY_COUNT + 5

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
# One car's info after a step, by the names of the wire protocol.
INFO_DTYPE = np.dtype(
    [
        ("progress", np.float64),
        ("speed", np.float64),
        ("wall", np.float64),
        ("offTrack", np.float64),
        ("backward", np.float64),
        ("stillness", np.float64),
        ("tick", np.int64),
        ("rawSpeed", np.float64),
        ("lap", np.int64),
        ("checkpoint", np.int64),
        ("stepCount", np.int64),
        ("wallContact", np.bool_),
        ("stillnessCounter", np.int64),
    ],
    align=True,
)
# Reward weights and episode limits; the weight of progress belongs to the track.
RULES_DTYPE = np.dtype(
    [
        ("speed_bonus", np.float64),
        ("wall_penalty", np.float64),
        ("off_track_penalty", np.float64),
        ("backward_penalty", np.float64),
        ("stillness_penalty", np.float64),
        ("stillness_speed_threshold", np.float64),
        ("max_steps", np.int64),
        ("stillness_timeout_ticks", np.int64),
    ],
    align=True,
)


@njit(cache=True)
def step_cars(tables, physics, rules, cars, actions, observations, infos, rewards, terminated, truncated):  # type: ignore[no-untyped-def]
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
    """
    for i in range(len(cars)):
        car = cars[i]
        track = tables.tracks[car.track]
        old_x, old_y, old_arc_length = car.x, car.y, car.arc_length
        _drive(car, physics[0], actions[i, 0], actions[i, 1], actions[i, 2])
        _collide(tables, track, car, physics[0], old_x, old_y)
        _locate(tables, track, car)
        _time_gates(tables, track, car, old_x, old_y)
        _reward(tables, track, physics[0], rules[0], car, old_arc_length, infos[i])
        rewards[i] = _sum_components(infos[i])
        terminated[i] = car.stillness_counter >= rules[0].stillness_timeout_ticks
        truncated[i] = car.step_count >= rules[0].max_steps
        _observe(tables, track, car, physics[0], observations[i])


@njit(cache=True)
def place_cars(tables, physics, cars, indices, observations):  # type: ignore[no-untyped-def]
    """Find the nearest centre points of freshly placed cars and observe.

    The surface stays what the start says.

    Args:
        tables, physics, cars, observations: As for ``step_cars``.
        indices: (K,) the cars to do.
    """
    for i in indices:
        car = cars[i]
        track = tables.tracks[car.track]
        surface = car.surface
        _locate(tables, track, car)
        car.surface = surface
        _observe(tables, track, car, physics[0], observations[i])


@njit
def _clamp(value, low, high):  # type: ignore[no-untyped-def]
    return min(max(value, low), high)


@njit
def _wrap_angle(angle):  # type: ignore[no-untyped-def]
    while angle > math.pi:
        angle -= 2.0 * math.pi
    while angle < -math.pi:
        angle += 2.0 * math.pi
    return angle


@njit
def _drive(car, physics, steer, throttle, brake):  # type: ignore[no-untyped-def]
    """Move the car by one tick as if there were no walls."""
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
        cos, sin = math.cos(old_heading), math.sin(old_heading)
        rear_x, rear_y = (move - half) * cos, (move - half) * sin
        front_x = half * cos + move * math.cos(old_heading + wheel_angle)
        front_y = half * sin + move * math.sin(old_heading + wheel_angle)
        heading = math.atan2(front_y - rear_y, front_x - rear_x)
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

    cos, sin = math.cos(heading), math.sin(heading)
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


@njit
def _cell_at(tables, track, x, y):  # type: ignore[no-untyped-def]
    """Return the index of the grid cell that holds a point; outside the grid, of the one for everywhere else."""
    column = math.floor((x - track.grid_x) * (1.0 / CELL_SIZE))
    row = math.floor((y - track.grid_y) * (1.0 / CELL_SIZE))
    if column < 0 or column >= track.columns or row < 0 or row >= track.rows:
        return track.first_cell + track.columns * track.rows
    return track.first_cell + row * track.columns + column


@njit
def _nearest_wall(tables, track, x, y, radius):  # type: ignore[no-untyped-def]
    """Return (distance, contact x, contact y) of the nearest wall point; distance = radius if none is nearer."""
    cell = _cell_at(tables, track, x, y)
    nearest, contact_x, contact_y = radius, 0.0, 0.0
    for r in range(tables.cells[cell].first_wall_range, tables.cells[cell + 1].first_wall_range):
        for j in range(tables.wall_ranges[r, 0], tables.wall_ranges[r, 1]):
            ax, ay = tables.walls[j, 0], tables.walls[j, 1]
            ex, ey = tables.walls[j + 1, 0] - ax, tables.walls[j + 1, 1] - ay
            squared = ex * ex + ey * ey
            t = 0.0 if squared < MIN_SEGMENT else _clamp(((x - ax) * ex + (y - ay) * ey) / squared, 0.0, 1.0)
            px, py = ax + t * ex, ay + t * ey
            distance = math.sqrt((x - px) * (x - px) + (y - py) * (y - py))
            if distance < nearest:
                nearest, contact_x, contact_y = distance, px, py
    return nearest, contact_x, contact_y


@njit
def _collide(tables, track, car, physics, old_x, old_y):  # type: ignore[no-untyped-def]
    """Sweep the move from the old position; stop at the first wall contact and resolve it."""
    radius = physics.width / 2.0
    dx, dy = car.x - old_x, car.y - old_y
    moved = math.sqrt(dx * dx + dy * dy)
    tests = math.ceil(moved / SWEEP_STEP) if moved > SWEEP_STEP else 1
    for i in range(1, tests + 1):
        x, y = car.x, car.y
        if i < tests:
            x, y = old_x + dx * (i / tests), old_y + dy * (i / tests)
        distance, contact_x, contact_y = _nearest_wall(tables, track, x, y, radius)
        if distance < radius:
            car.x, car.y = x, y
            _resolve_contact(car, physics, distance, contact_x, contact_y)
            return


@njit
def _resolve_contact(car, physics, distance, contact_x, contact_y):  # type: ignore[no-untyped-def]
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
    impact = math.acos(_clamp(ratio, 0.0, 1.0)) / (math.pi / 2.0)
    if impact > HARD_IMPACT:
        hardness = 2.0 * (impact - HARD_IMPACT)
        target = math.atan2(nx, -ny) if tx * -ny + ty * nx >= 0.0 else math.atan2(-nx, ny)
        car.heading += _wrap_angle(target - car.heading) * WALL_TURN * hardness
        car.yaw_rate *= 1.0 - YAW_LOSS * hardness


@njit
def _chord_at(tables, track, distance):  # type: ignore[no-untyped-def]
    """Return the last chord that begins at or before an arc length in [0, total length)."""
    sample = min(int(distance / track.sample_spacing), track.sample_count - 1)
    chord = tables.sample_chords[track.first_sample + sample]
    while tables.chords[chord].length > distance:
        chord -= 1
    while tables.chords[chord + 1].length <= distance:
        chord += 1
    return chord


@njit
def _distance_squared_at(tables, track, distance, x, y):  # type: ignore[no-untyped-def]
    """Return the squared distance of (x, y) from the centre line's point at an arc length."""
    if distance < 0.0:
        distance += track.total_length
    if distance >= track.total_length:
        distance -= track.total_length
    chord = _chord_at(tables, track, distance)
    index = chord - track.first_chord
    segment = index // CHORDS_PER_SEGMENT
    t = (index - segment * CHORDS_PER_SEGMENT) * (1.0 / CHORDS_PER_SEGMENT)
    t += (distance - tables.chords[chord].length) * tables.chords[chord].rate
    s = tables.segments[track.first_segment + segment]
    dx = ((s.x3 * t + s.x2) * t + s.x1) * t + s.x0 - x
    dy = ((s.y3 * t + s.y2) * t + s.y1) * t + s.y0 - y
    return dx * dx + dy * dy


@njit
def _locate(tables, track, car):  # type: ignore[no-untyped-def]
    """Find the nearest centre point: arc length, distance, and the surface there."""
    x, y = car.x, car.y
    cell = _cell_at(tables, track, x, y)
    best, nearest = 0, np.inf
    for r in range(tables.cells[cell].first_sample_range, tables.cells[cell + 1].first_sample_range):
        for j in range(tables.sample_ranges[r, 0], tables.sample_ranges[r, 1]):
            dx, dy = tables.samples[j, 0] - x, tables.samples[j, 1] - y
            squared = dx * dx + dy * dy
            if squared < nearest:
                best, nearest = j, squared
    arc_length = (best - track.first_sample) * track.total_length / track.sample_count
    low, high = arc_length - track.sample_spacing, arc_length + track.sample_spacing
    for _ in range(SEARCH_ROUNDS):
        m1, m2 = low + (high - low) / 3.0, high - (high - low) / 3.0
        d1 = _distance_squared_at(tables, track, m1, x, y)
        d2 = _distance_squared_at(tables, track, m2, x, y)
        if d1 < d2:
            high = m2
            if d1 < nearest:
                nearest, arc_length = d1, m1
        else:
            low = m1
            if d2 < nearest:
                nearest, arc_length = d2, m2
    if arc_length < 0.0:
        arc_length += track.total_length
    if arc_length >= track.total_length:
        arc_length -= track.total_length
    car.arc_length = arc_length
    car.centre_distance = math.sqrt(nearest)

    segment = (_chord_at(tables, track, arc_length) - track.first_chord) // CHORDS_PER_SEGMENT
    s = tables.segments[track.first_segment + segment]
    half_width = s.half_width + s.half_width_slope * (arc_length - s.start_length)
    if car.centre_distance <= half_width:
        car.surface = ROAD
    elif car.centre_distance <= half_width + SHOULDER_WIDTH:
        car.surface = SHOULDER
    else:
        car.surface = RUNOFF


@njit
def _time_gates(tables, track, car, old_x, old_y):  # type: ignore[no-untyped-def]
    """Look whether the move crossed the expected gate."""
    expected = (car.checkpoint + 1) % track.gate_count
    gate = tables.gates[track.first_gate + expected]
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


@njit
def _reward(tables, track, physics, rules, car, old_arc_length, info):  # type: ignore[no-untyped-def]
    """Count the tick and write the reward's components and the rest of the info."""
    length = track.total_length
    delta = car.arc_length - old_arc_length
    if delta > length / 2.0:
        delta -= length
    elif delta < -length / 2.0:
        delta += length
    radius = physics.width / 2.0 + physics.contact_padding
    contact = _nearest_wall(tables, track, car.x, car.y, radius)[0] < radius
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


@njit
def _sum_components(info):  # type: ignore[no-untyped-def]
    return info.progress + info.speed + info.wall + info.offTrack + info.backward + info.stillness


@njit
def _cast_ray(tables, track, x, y, dx, dy, limit):  # type: ignore[no-untyped-def]
    """Return the distance along the unit vector (dx, dy) to the first wall, at most ``limit``."""
    nearest = limit
    travelled = 0.0
    while travelled < nearest:
        cell = _cell_at(tables, track, x + dx * travelled, y + dy * travelled)
        for r in range(tables.cells[cell].first_wall_range, tables.cells[cell + 1].first_wall_range):
            for j in range(tables.wall_ranges[r, 0], tables.wall_ranges[r, 1]):
                ox, oy = tables.walls[j, 0] - x, tables.walls[j, 1] - y
                ex, ey = tables.walls[j + 1, 0] - tables.walls[j, 0], tables.walls[j + 1, 1] - tables.walls[j, 1]
                cross = dx * ey - dy * ex
                if abs(cross) < PARALLEL:
                    continue
                t, u = (ox * ey - oy * ex) / cross, (ox * dy - oy * dx) / cross
                if t >= 0.0 and 0.0 <= u <= 1.0 and t < nearest:
                    nearest = t
        travelled += tables.cells[cell].stride
    return nearest


@njit
def _observe(tables, track, car, physics, observation):  # type: ignore[no-untyped-def]
    first_angle = car.heading - physics.ray_field_of_view / 2.0
    step = physics.ray_field_of_view / (RAY_COUNT - 1)
    for ray in range(RAY_COUNT):
        angle = first_angle + ray * step
        distance = _cast_ray(
            tables, track, car.x, car.y, math.cos(angle), math.sin(angle), physics.ray_max_distance
        )
        observation[ray] = distance / physics.ray_max_distance
    observation[9] = car.speed / physics.max_speed
    observation[10] = _clamp(car.yaw_rate / physics.max_yaw_rate, -1.0, 1.0)
    observation[11] = car.steer
    observation[12] = car.arc_length / track.total_length
    observation[13] = min(1.0, car.centre_distance / physics.max_centre_distance)
