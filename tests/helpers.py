"""What several tests share: small tracks, a driver, a recorder, and slow but plain geometry to compare with."""

import copy
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from racer_env.config import AiConfig
from racer_env.contract import EpisodeLimits, RewardWeights
from racer_env.project import PROJECT_ROOT
from racer_env.rendering.metronome import Metronome
from racer_env.simulator.simulator import Simulator
from racer_env.tracks import Track, parse_track
from racer_env.tracks.geometry import TrackGeometry
from racer_env.tracks.starts import Start, standing_start, start_at

FloatArray = npt.NDArray[np.float64]

TRACK_IDS = ("track-01", "track-02", "track-03")
RECORDINGS = Path(__file__).resolve().parent / "recordings"
SHARED_RECORDINGS = PROJECT_ROOT.parent / "shared" / "golden"
TICKS_PER_SECOND = 60
MAX_SPEED = 160.0  # units/s
RAY_RANGE = 200.0  # units

# Every weight differs from the others and from 0, so that a mixed-up component shows.
TEST_CONFIG = AiConfig(
    RewardWeights(
        progress=1.0,
        speed_bonus=0.01,
        wall_penalty=-0.002,
        off_track_penalty=-0.001,
        backward_penalty=-0.0005,
        stillness_penalty=-0.003,
        stillness_speed_threshold=2.0,
    )
)
# What the recordings were made with.
RECORDING_CONFIG = AiConfig(RewardWeights(speed_bonus=0.01, backward_penalty=-0.0005))

# A recorded tick, column by column.
COLUMNS = (
    *("action steer", "action throttle", "action brake", "x", "y", "vx", "vy", "heading", "yaw_rate", "speed"),
    *("steer", "throttle", "brake", "surface", "lap", "checkpoint", "wallContact", "stillnessCounter"),
    *(f"observation {index}" for index in range(14)),
    *("progress reward", "speed reward", "wall reward", "offTrack reward", "backward reward", "stillness reward"),
    *("reward", "terminated", "truncated"),
)
DISCRETE_COLUMNS = [
    COLUMNS.index(name)
    for name in ("surface", "lap", "checkpoint", "wallContact", "stillnessCounter", "terminated", "truncated")
]
COMPONENTS = ("progress", "speed", "wall", "offTrack", "backward", "stillness")


def make_link(path: Path, target: Path) -> None:
    """Make a symbolic link, or skip the test."""
    try:
        path.symlink_to(target)
    except OSError:
        pytest.skip("this system makes no links")


def in_child(act: Callable[[], None]) -> int:
    """Do something in a process of its own and return its exit code; nothing is cleaned up there."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            act()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def with_limits(max_steps: int = 3000, stillness_timeout_ticks: int = 180) -> AiConfig:
    """Return the test configuration with other episode limits."""
    return AiConfig(TEST_CONFIG.weights, EpisodeLimits(max_steps, stillness_timeout_ticks))


def track_document(points: Sequence[tuple[float, float, float]], checkpoint_count: int = 30) -> dict[str, Any]:
    """Return a track file's content for control points (x, y, half-width)."""
    return {
        "id": "test",
        "name": "Test",
        "checkpointCount": checkpoint_count,
        "controlPoints": [{"x": x, "y": y, "halfWidth": half_width} for x, y, half_width in points],
    }


def ring_document(radius: float = 200.0, half_width: float = 20.0, count: int = 12) -> dict[str, Any]:
    """Return a round track's document, counter-clockwise from the right; a fresh one on every call."""
    angles = [2 * math.pi * index / count for index in range(count)]
    return track_document([(radius * math.cos(a), radius * math.sin(a), half_width) for a in angles])


def ring_track(**changes: Any) -> Track:
    """Return the round track with some keys of its document changed, without looking whether it can be driven."""
    return parse_track({**ring_document(), **changes}, must_be_drivable=False)


def without(document: dict[str, Any], *keys: Any) -> dict[str, Any]:
    """Return a copy of a document that lacks the item under a path of keys."""
    document = copy.deepcopy(document)
    inner: Any = document
    for key in keys[:-1]:
        inner = inner[key]
    del inner[keys[-1]]
    return document


def with_value(document: dict[str, Any], value: Any, *keys: Any) -> dict[str, Any]:
    """Return a copy of a document that has ``value`` under a path of keys."""
    document = copy.deepcopy(document)
    inner: Any = document
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    return document


class FakeClock:
    """A clock that a test sets, and on which a sleep takes no time."""

    def __init__(self) -> None:
        self.time = 0.0

    def metronome(self) -> Metronome:
        """Return a metronome that goes by this clock."""

        def sleep(seconds: float) -> None:
            self.time += seconds

        return Metronome(lambda: self.time, sleep)


def place(simulator: Simulator, start: Start, car: int = 0, **fields: float) -> None:
    """Put a car at a start, then write some of its fields."""
    simulator.place([car], [start])
    for name, value in fields.items():
        simulator.cars[car][name] = value


def place_at(simulator: Simulator, arc_length: float, car: int = 0, **changes: float) -> None:
    """Put a car beside an arc length; ``changes`` go to ``start_at``."""
    simulator.place([car], [start_at(simulator.track_of(car).geometry, arc_length, **changes)])


def step(simulator: Simulator, steer: float = 0.0, throttle: float = 0.0, brake: float = 0.0) -> np.void:
    """Step every car with one action and return the first car's info."""
    simulator.step(np.tile([steer, throttle, brake], (len(simulator.cars), 1)))
    info: np.void = simulator.infos[0]
    return info


def random_actions(seed: int, *shape: int) -> FloatArray:
    """Return random actions of a shape, with three numbers for each, half of them beyond the bounds."""
    return np.random.default_rng(seed).uniform([-2.0, -1.0, -1.5], [2.0, 2.0, 1.5], (*shape, 3))


def wrap_angle(angle: Any) -> Any:
    """Return angles wrapped into [-pi, pi)."""
    return (angle + math.pi) % (2 * math.pi) - math.pi


def drive_actions(
    track: Track, cars: npt.NDArray[np.void], speed: float, lateral: Any = 0.0, direction: int = 1
) -> FloatArray:
    """Return what a plain driver does: steer at a point of the road ahead, and hold a speed.

    Args:
        track: Where.
        cars: (N,) the cars' states.
        speed: To hold, in units/s.
        lateral: To hold, to the left of the centre line, in units; one for all or (N,).
        direction: 1 is the driving direction, -1 against it.

    Returns:
        (N, 3) steer, throttle, brake.
    """
    ahead = cars["arc_length"] + direction * 25.0
    target, tangent = track.geometry.centre_line.point_at(ahead), track.geometry.centre_line.unit_tangent_at(ahead)
    x, y = target[:, 0] - lateral * tangent[:, 1], target[:, 1] + lateral * tangent[:, 0]
    error = wrap_angle(np.arctan2(y - cars["y"], x - cars["x"]) - cars["heading"])
    missing = (speed - cars["speed"]) / 10.0
    return np.stack([np.clip(-2.0 * error, -1, 1), np.clip(missing, 0, 1), np.clip(-missing, 0, 1)], axis=1)


def drive_until(simulator: Simulator, condition: Any, max_ticks: int, speed: float = 100.0) -> int:
    """Drive the only car until ``condition(car)`` holds and return the ticks it took, or -1."""
    for tick in range(max_ticks):
        if condition(simulator.cars[0]):
            return tick
        simulator.step(drive_actions(simulator.tracks[0], simulator.cars, speed))
    return -1


def tick_row(simulator: Simulator, action: FloatArray) -> list[float]:
    """Return the tick that the first car has just made, in the recordings' columns."""
    car, info = simulator.cars[0], simulator.infos[0]
    return [
        *action,
        *(car[name] for name in COLUMNS[3:16]),
        *(info[name] for name in COLUMNS[16:18]),
        *simulator.observations[0],
        *(info[name] for name in COMPONENTS),
        *(simulator.rewards[0], simulator.terminated[0], simulator.truncated[0]),
    ]


def replay(simulator: Simulator, actions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Drive the first car from the line with recorded actions.

    Returns:
        The first observation (14,) and the ticks (T, 41).
    """
    simulator.place([0], [standing_start(simulator.tracks[0].geometry)])
    first_observation = simulator.observations[0].copy()
    ticks = np.empty((len(actions), len(COLUMNS)))
    for row, action in zip(ticks, actions, strict=True):
        simulator.step(action[None])
        row[:] = tick_row(simulator, action)
    return first_observation, ticks


def wall_segments(geometry: TrackGeometry) -> tuple[FloatArray, FloatArray]:
    """Return the begin and the end, (W, 2) each, of every segment of both walls."""
    walls = (geometry.inner_wall, geometry.outer_wall)
    return np.concatenate([wall[:-1] for wall in walls]), np.concatenate([wall[1:] for wall in walls])


def ray_distances(geometry: TrackGeometry, x: float, y: float, heading: float) -> FloatArray:
    """Return how far each of the nine rays goes, looking at every wall segment."""
    begin, end = wall_segments(geometry)
    edge, offset = end - begin, begin - np.array([x, y])
    distances = []
    for ray in range(9):
        angle = heading - math.pi / 2 + ray * math.pi / 8
        dx, dy = math.cos(angle), math.sin(angle)
        cross = dx * edge[:, 1] - dy * edge[:, 0]
        safe = np.where(np.abs(cross) < 1e-10, np.nan, cross)
        t = (offset[:, 0] * edge[:, 1] - offset[:, 1] * edge[:, 0]) / safe
        u = (offset[:, 0] * dy - offset[:, 1] * dx) / safe
        distances.append(min(RAY_RANGE, *t[(t >= 0) & (u >= 0) & (u <= 1)], RAY_RANGE))
    return np.array(distances)


def wall_distance(geometry: TrackGeometry, x: float, y: float) -> float:
    """Return the distance of a position to the nearest wall, looking at every wall segment."""
    begin, end = wall_segments(geometry)
    edge, position = end - begin, np.array([x, y])
    t = np.clip(np.sum((position - begin) * edge, axis=1) / np.sum(edge * edge, axis=1), 0, 1)
    return float(np.hypot(*(position - begin - t[:, None] * edge).T).min())


def nearest_centre(geometry: TrackGeometry, x: Any, y: Any) -> tuple[Any, Any]:
    """Return arc length and distance of the nearest centre point: every coarse sample, then 16 ternary rounds.

    Args:
        geometry: The track.
        x, y: One position, or arrays of them.
    """
    length, position = geometry.total_length, np.stack([x, y], axis=-1)

    def distance_at(arc_length: Any, of: Any) -> Any:
        offset = geometry.centre_line.point_at(np.asarray(arc_length)) - of
        return np.hypot(offset[..., 0], offset[..., 1])

    count = max(100, math.ceil(length / 2))
    coarse = np.arange(count) * length / count
    distances = distance_at(coarse, position[..., None, :])
    best, least = coarse[np.argmin(distances, axis=-1)], distances.min(axis=-1)
    low, high = best - length / count, best + length / count
    for _ in range(16):
        m1, m2 = low + (high - low) / 3, high - (high - low) / 3
        d1, d2 = distance_at(m1, position), distance_at(m2, position)
        is_first = d1 < d2
        low, high = np.where(is_first, low, m1), np.where(is_first, m2, high)
        middle, distance = np.where(is_first, m1, m2), np.where(is_first, d1, d2)
        best, least = np.where(distance < least, middle, best), np.minimum(distance, least)
    return best % length, least


def crosses(a: Any, b: Any, c: Any, d: Any) -> bool:
    """Return whether the segments a-b and c-d cross, by which side of each the other's ends are on."""

    def side(p: Any, q: Any, r: Any) -> float:
        return float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0


def gate_arc_length(geometry: TrackGeometry, gate: int) -> float:
    """Return the arc length at which the centre line meets a gate; gates stand askew, so not quite its own."""
    gates = geometry.gates
    at = gates.arc_length[gate] + np.arange(-15.0, 15.0, 0.05)
    line = geometry.centre_line.point_at(at)
    for index in range(len(at) - 1):
        if crosses(line[index], line[index + 1], gates.left[gate], gates.right[gate]):
            return float(at[index])
    raise AssertionError(f"the centre line does not meet gate {gate}")


def beside_wall(geometry: TrackGeometry, distance: float, sample: int = 40) -> tuple[float, float, float]:
    """Return a position at a distance inside the outer wall, and the heading straight at the wall."""
    begin, end = geometry.outer_wall[sample], geometry.outer_wall[sample + 1]
    middle, along = (begin + end) / 2, (end - begin) / np.hypot(*(end - begin))
    centre = geometry.centre_line.point_at(np.array(nearest_centre(geometry, *middle)[0]))
    inwards = np.array([-along[1], along[0]])
    inwards *= np.sign(inwards @ (centre - middle))
    x, y = middle + distance * inwards
    return float(x), float(y), math.atan2(-inwards[1], -inwards[0])
