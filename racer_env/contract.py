"""The game's contract: names, order, types and bounds of everything that crosses between game and toolkit.

This is the lowest layer: engines, environments, bridge, scripts and reports take every name and index from here, and
it imports nothing heavier than NumPy. ``bridge/src/engine/contract.ts`` states the same in TypeScript, and
``tests/contract.json`` keeps the two in step. To add a reward component or an observation, see
``docs/contributing.md``.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from racer_env.errors import ActionError

TICKS_PER_SECOND = 60
DT = 1.0 / TICKS_PER_SECOND  # seconds in a tick
RAY_COUNT = 9
MAX_ACTION_REPEAT = TICKS_PER_SECOND  # most ticks that an action may be held
MAX_CARS = 16_384  # most that drive at once


class Value(NamedTuple):
    """One number of an action or an observation.

    Attributes:
        name: Name used in exported drivers.
        low, high: Bounds of the value, both included.
    """

    name: str
    low: float
    high: float


# --- Actions ---

ACTION = (Value("steer", -1.0, 1.0), Value("throttle", 0.0, 1.0), Value("brake", 0.0, 1.0))  # steer 1 turns right
ACTION_NAMES = tuple(value.name for value in ACTION)
ACTION_SIZE = len(ACTION)
STEER, THROTTLE, BRAKE = range(ACTION_SIZE)  # indices into an action

# --- Observations ---

OBSERVATION = (
    *(Value(f"ray_{ray}", 0.0, 1.0) for ray in range(RAY_COUNT)),  # 0 looks right, the last one looks left
    Value("speed", 0.0, 1.0),
    Value("yaw_rate", -1.0, 1.0),
    Value("steer", -1.0, 1.0),
    Value("arc_length", 0.0, 1.0),
    Value("centre_distance", 0.0, 1.0),
)
OBSERVATION_NAMES = tuple(value.name for value in OBSERVATION)
OBSERVATION_SIZE = len(OBSERVATION)
RAYS = slice(0, RAY_COUNT)
RAY_AHEAD = RAY_COUNT // 2  # index of the ray ahead; lower indices look right, higher ones left
# Indices into an observation.
OBSERVED_SPEED = OBSERVATION_NAMES.index("speed")
OBSERVED_YAW_RATE = OBSERVATION_NAMES.index("yaw_rate")
OBSERVED_STEER = OBSERVATION_NAMES.index("steer")
OBSERVED_ARC_LENGTH = OBSERVATION_NAMES.index("arc_length")
OBSERVED_CENTRE_DISTANCE = OBSERVATION_NAMES.index("centre_distance")

# --- Reward ---

REWARD_COMPONENTS = ("progress", "speed", "wall", "offTrack", "backward", "stillness")  # summed in this order


@dataclass(frozen=True)
class RewardWeights:
    """Weights of the reward's components; penalties are negative. The JSON names are in camelCase.

    Attributes:
        progress: Reward for one whole lap of progress along the centre line.
        speed_bonus: Reward per tick at top speed, in proportion to speed.
        wall_penalty: Reward per tick in contact with a wall.
        off_track_penalty: Reward per tick off the road.
        backward_penalty: Reward per tick of negative progress.
        stillness_penalty: Reward per tick below the threshold.
        stillness_speed_threshold: Speed below which a car counts as still, in units/s.
    """

    progress: float = 1.0
    speed_bonus: float = 0.0
    wall_penalty: float = -0.002
    off_track_penalty: float = -0.001
    backward_penalty: float = 0.0
    stillness_penalty: float = -0.001
    stillness_speed_threshold: float = 2.0


@dataclass(frozen=True)
class EpisodeLimits:
    """When an episode ends. The JSON names are in camelCase.

    Attributes:
        max_steps: Steps after which an episode is truncated.
        stillness_timeout_ticks: Still ticks in a row after which an episode is terminated.
    """

    max_steps: int = 3000
    stillness_timeout_ticks: int = 180


# --- Info ---


class InfoField(NamedTuple):
    """One entry of ``info``.

    Attributes:
        name: Key used in ``info`` and in the protocol.
        type: Type of the value: float, int or bool.
    """

    name: str
    type: type


STEP_INFO = (
    *(InfoField(name, float) for name in REWARD_COMPONENTS),
    InfoField("tick", int),
    InfoField("rawSpeed", float),  # units/s
    InfoField("lap", int),  # from 1; 0 before the first crossing of the line after a start elsewhere
    InfoField("checkpoint", int),  # the last gate passed
    InfoField("stepCount", int),
    InfoField("wallContact", bool),
    InfoField("stillnessCounter", int),
)
RESET_INFO = (
    InfoField("tick", int),
    InfoField("speed", float),  # units/s
    InfoField("lap", int),
    InfoField("checkpoint", int),
    InfoField("stepCount", int),
)
STEP_INFO_KEYS = tuple(field.name for field in STEP_INFO)
RESET_INFO_KEYS = tuple(field.name for field in RESET_INFO)

# One car's info after a step, as the engines store it.
_DTYPES = {float: np.float64, int: np.int64, bool: np.bool_}
INFO_DTYPE = np.dtype([(field.name, _DTYPES[field.type]) for field in STEP_INFO], align=True)

# --- Where an episode starts ---

MAX_START_OFFSET = 1000.0  # units from the centre line
MAX_START_MAGNITUDE = 1e6  # units of arc length, radians of heading; far larger values lose digits when wrapped


class Placement(NamedTuple):
    """A start on the move, relative to the track.

    Attributes:
        arc_length: Position along the centre line, in units; any value, wrapped.
        lateral: Offset to the left of the centre line, in units.
        heading: Angle from the road's direction, counter-clockwise, in radians.
        speed: Speed along the heading, in units/s.
    """

    arc_length: float
    lateral: float = 0.0
    heading: float = 0.0
    speed: float = 0.0


# Lowest and highest value by name; None is the physics' top speed.
PLACEMENT_BOUNDS: dict[str, tuple[float, float | None]] = {
    "arc_length": (-MAX_START_MAGNITUDE, MAX_START_MAGNITUDE),
    "lateral": (-MAX_START_OFFSET, MAX_START_OFFSET),
    "heading": (-MAX_START_MAGNITUDE, MAX_START_MAGNITUDE),
    "speed": (0.0, None),
}


def checked_actions(actions: npt.ArrayLike, num_cars: int) -> npt.NDArray[np.float64]:
    """Return actions as a contiguous float64 array (N, 3).

    Raises:
        ActionError: The shape is wrong, or a number is not finite; the message names the first one.
    """
    array = np.ascontiguousarray(shaped_actions(actions, num_cars), dtype=np.float64)
    check_finite(array)
    return array


def shaped_actions(actions: npt.ArrayLike, num_cars: int) -> npt.NDArray[Any]:
    """Return actions as an array (N, 3) of real numbers, of any type and size.

    Raises:
        ActionError: The shape is wrong, or these are no real numbers.
    """
    try:
        given = np.asarray(actions)
    except ValueError as error:
        raise ActionError(f"actions must be numbers of shape ({num_cars}, {ACTION_SIZE}): {error}") from error
    if given.dtype.kind not in "fiu":
        raise ActionError(f"actions must be real numbers, got {given.dtype}: {str(actions)[:60]}")
    if given.shape != (num_cars, ACTION_SIZE):
        raise ActionError(
            f"actions must have the shape ({num_cars}, {ACTION_SIZE}), steer, throttle and brake per car; "
            f"got {given.shape}"
        )
    return given


def check_finite(actions: npt.NDArray[np.float64]) -> None:
    """Refuse actions (N, 3) that are not finite.

    Raises:
        ActionError: The message names the first one.
    """
    if not np.isfinite(actions).all():
        car, item = np.argwhere(~np.isfinite(actions))[0]
        raise ActionError(f"actions must be finite numbers; {ACTION_NAMES[item]} of car {car} is {actions[car, item]}")
