"""Where an episode starts: at rest on the start line, or on the move anywhere along the track."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from racer_env.contract import MAX_START_MAGNITUDE, MAX_START_OFFSET, PLACEMENT_BOUNDS, Placement
from racer_env.errors import ConfigError
from racer_env.fdlibm import atan2
from racer_env.json_files import MAX_INTEGER, Checker
from racer_env.tracks.geometry import TrackGeometry
from racer_env.tracks.track import Track

STANDING, RANDOM = "standing", "random"
MAX_POSITION = 1e18  # units from the origin; farther, the number of a cell of the grid would overflow
MAX_LATERAL_SHARE = 0.6  # share of the half-width
MAX_HEADING_OFFSET = 0.3  # radians
MAX_START_SPEED = 120.0  # units/s


@dataclass(frozen=True)
class Start:
    """A car's state at the start of an episode; all other quantities are 0.

    Attributes:
        x, y: Position of the car, in units.
        heading: Heading in radians, counter-clockwise from +x.
        speed: Speed along the heading, in units/s.
        checkpoint: The last gate passed.
        lap: 1 on the first lap. A start elsewhere begins on an out-lap, 0: its first crossing of the line begins
            lap 1 and completes no lap.
    """

    x: float
    y: float
    heading: float
    speed: float = 0.0
    checkpoint: int = 0
    lap: int = 1


def check_start(start: Start, track: Track) -> None:
    """Refuse a start that no car can have: the compiled engine would loop for ever, or read beyond its tables.

    Args:
        start: The state of a car, from a file for example.
        track: The track on which it drives.

    Raises:
        ConfigError: A number is not finite or out of range; the message names it.
    """
    gates = track.checkpoint_count - 1
    ranges: dict[str, tuple[float, float]] = {
        **dict.fromkeys(("x", "y"), (-MAX_POSITION, MAX_POSITION)),
        "heading": (-MAX_START_MAGNITUDE - math.pi, MAX_START_MAGNITUDE + math.pi),
        "speed": (0.0, track.physics.max_speed),
        "checkpoint": (0, gates),
        "lap": (0, MAX_INTEGER),
    }
    for name, (low, high) in ranges.items():
        value = getattr(start, name)
        if not low <= value <= high:  # which a NaN is not either
            raise ConfigError(f"start: {name} must be within [{low:g}, {high:g}], got {str(value)[:20]}")


def standing_start(geometry: TrackGeometry) -> Start:
    """Return the game's own start: at rest on the line."""
    return Start(*geometry.start)


def start_at(
    geometry: TrackGeometry, arc_length: float, lateral: float = 0.0, heading: float = 0.0, speed: float = 0.0
) -> Start:
    """Return a start on an out-lap; the arguments are those of ``Placement``."""
    distance = geometry.centre_line.wrap(np.array(arc_length, dtype=np.float64))
    centre, tangent = geometry.centre_line.point_and_tangent_at(distance)
    position = centre + lateral * np.array([-tangent[1], tangent[0]])
    return Start(
        x=float(position[0]),
        y=float(position[1]),
        heading=atan2(float(tangent[1]), float(tangent[0])) + heading,
        speed=speed,
        checkpoint=_last_gate(geometry, float(distance), position),
        lap=0,
    )


def start_for(geometry: TrackGeometry, placement: Placement | None) -> Start:
    """Return the start for a placement; None is the standing start."""
    return standing_start(geometry) if placement is None else start_at(geometry, *placement)


def make_placement(track: Track, start: str | Mapping[str, float], random: np.random.Generator) -> Placement | None:
    """Return the placement that a reset option asks for; None is the standing start.

    Args:
        track: Track that the episode is driven on.
        start: ``"standing"``, ``"random"``, or a dictionary as in ``RacerEnv``.
        random: Generator that draws a random start.

    Raises:
        ConfigError: The option is none of these.
    """
    if isinstance(start, str) and start == STANDING:
        return None
    if isinstance(start, str) and start == RANDOM:
        return random_placement(track.geometry, random)
    check = Checker(ConfigError, "start")
    if not isinstance(start, Mapping):
        raise check.fail(f"expected 'standing', 'random' or a dictionary with arc_length, got {start!r}")
    numbers = check.mapping(dict(start), "the dictionary", PLACEMENT_BOUNDS, required=("arc_length",))
    numbers = {key: check.number(value, key) for key, value in numbers.items()}
    if not 0.0 <= numbers.get("speed", 0.0) <= track.physics.max_speed:
        raise check.fail(f"speed must be within [0, {track.physics.max_speed:g}] units/s, got {numbers['speed']:g}")
    if abs(numbers.get("lateral", 0.0)) > MAX_START_OFFSET:
        raise check.fail(f"lateral must be within {MAX_START_OFFSET:g} units of the line, got {numbers['lateral']:g}")
    for key in ("arc_length", "heading"):
        if abs(numbers.get(key, 0.0)) > MAX_START_MAGNITUDE:
            raise check.fail(f"{key} must be within {MAX_START_MAGNITUDE:g} of 0, got {numbers[key]:g}")
    return Placement(**numbers)


def random_placement(geometry: TrackGeometry, random: np.random.Generator) -> Placement:
    """Draw a placement anywhere: uniform in arc length, lateral offset, heading and speed."""
    arc_length = random.uniform(0.0, geometry.total_length)
    half_width = float(geometry.centre_line.half_width_at(np.array(arc_length)))
    return Placement(
        arc_length,
        lateral=random.uniform(-MAX_LATERAL_SHARE, MAX_LATERAL_SHARE) * half_width,
        heading=random.uniform(-MAX_HEADING_OFFSET, MAX_HEADING_OFFSET),
        speed=random.uniform(0.0, MAX_START_SPEED),
    )


def _last_gate(geometry: TrackGeometry, arc_length: float, position: np.ndarray) -> int:
    """Return the gate behind a position near an arc length in [0, L).

    Some gates stand askew, so arc length alone may name one that the car is already past, or has not reached.
    """
    count = len(geometry.gates.arc_length)
    last = math.floor(arc_length / geometry.total_length * count) % count
    following = (last + 1) % count
    if _is_past(geometry, following, position):
        return following
    return last if _is_past(geometry, last, position) else (last - 1) % count


def _is_past(geometry: TrackGeometry, gate: int, position: np.ndarray) -> bool:
    """Return whether a position near a gate lies on its far side, in driving direction."""
    gates = geometry.gates
    across, offset = gates.right[gate] - gates.left[gate], position - gates.left[gate]
    forward = across[0] * gates.direction[gate][1] - across[1] * gates.direction[gate][0]
    side = across[0] * offset[1] - across[1] * offset[0]
    return bool(side * forward > 0)
