"""The spaces, render modes and info dictionaries that every environment here shares."""

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from racer_env.errors import ConfigError
from racer_env.physics import RAY_COUNT
from racer_env.simulator.kernels import INFO_DTYPE

STEP_INFO_KEYS: tuple[str, ...] = INFO_DTYPE.names or ()
RESET_INFO_KEYS = ("tick", "speed", "lap", "checkpoint", "stepCount")
HUMAN, RGB_ARRAY = "human", "rgb_array"
RENDER_MODES = (HUMAN, RGB_ARRAY)
REWARD_KEYS = ("progress", "speed", "wall", "offTrack", "backward", "stillness")


def check_render_mode(render_mode: str | None) -> None:
    """Refuse what is no render mode.

    Raises:
        ConfigError: It is neither None nor one of RENDER_MODES.
    """
    if render_mode not in (None, *RENDER_MODES):
        raise ConfigError(f"render_mode must be None, {' or '.join(map(repr, RENDER_MODES))}, got {render_mode!r}")


def make_action_space() -> spaces.Box:
    """Return the action space: steer [-1, 1] (positive turns right), throttle [0, 1], brake [0, 1]."""
    return spaces.Box(np.array([-1, 0, 0], np.float32), np.array([1, 1, 1], np.float32), dtype=np.float32)


def make_observation_space() -> spaces.Box:
    """Return the observation space: 14 values, each within [0, 1] or [-1, 1]."""
    low = np.zeros(RAY_COUNT + 5, np.float32)
    low[RAY_COUNT + 1 : RAY_COUNT + 3] = -1.0  # yaw rate, steer
    return spaces.Box(low, np.ones(RAY_COUNT + 5, np.float32), dtype=np.float32)


def step_infos(records: npt.NDArray[np.void]) -> list[dict[str, Any]]:
    """Return the info dictionaries of a step.

    Args:
        records: (N,) INFO_DTYPE.
    """
    # Columns become lists of Python numbers in one call each, and a dictionary that is written out is made twice as
    # fast as one of keys and values: together a quarter of the cost of converting record by record.
    columns = [records[name].tolist() for name in STEP_INFO_KEYS]
    return [
        {
            "progress": progress,
            "speed": speed,
            "wall": wall,
            "offTrack": off_track,
            "backward": backward,
            "stillness": stillness,
            "tick": tick,
            "rawSpeed": raw_speed,
            "lap": lap,
            "checkpoint": checkpoint,
            "stepCount": step_count,
            "wallContact": wall_contact,
            "stillnessCounter": stillness_counter,
        }
        for (
            progress,
            speed,
            wall,
            off_track,
            backward,
            stillness,
            tick,
            raw_speed,
            lap,
            checkpoint,
            step_count,
            wall_contact,
            stillness_counter,
        ) in zip(*columns)  # noqa: B905 (strict costs a tenth)
    ]


def step_info(record: npt.NDArray[np.void]) -> dict[str, Any]:
    """Return the info dictionary of one car's step, from one INFO_DTYPE record."""
    return dict(zip(STEP_INFO_KEYS, record.item()))  # noqa: B905


def reset_info(car: npt.NDArray[np.void]) -> dict[str, Any]:
    """Return the info dictionary of a reset, from one CAR_DTYPE record."""
    return {
        "tick": int(car["tick"]),
        "speed": float(car["speed"]),
        "lap": int(car["lap"]),
        "checkpoint": int(car["checkpoint"]),
        "stepCount": int(car["step_count"]),
    }
