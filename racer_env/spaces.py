"""The spaces, render modes and info dictionaries shared by all environments."""

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from racer_env.contract import ACTION, OBSERVATION, RESET_INFO, STEP_INFO, STEP_INFO_KEYS, Value
from racer_env.errors import ConfigError
from racer_env.packages import need

HUMAN, RGB_ARRAY = "human", "rgb_array"
RENDER_MODES = (HUMAN, RGB_ARRAY)


def check_whole(name: str, number: Any, at_least: int | None = None, at_most: int | None = None) -> None:
    """Refuse what is no whole number within a range.

    Raises:
        ConfigError: It is something else; True and False are no numbers.
    """
    is_whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if is_whole and (at_least is None or number >= at_least) and (at_most is None or number <= at_most):
        return
    least, most = f" from {at_least}" if at_least is not None else "", f" up to {at_most:,}" if at_most else ""
    raise ConfigError(f"{name} must be a whole number{least}{most}, got {number!r:.60}")


def check_reset_options(options: Any, *allowed: str) -> None:
    """Refuse options of a reset that are no dictionary, or have an unknown key.

    Raises:
        ConfigError: They are.
    """
    if not isinstance(options, Mapping):
        raise ConfigError(f"options of a reset must be a dictionary, got {options!r:.60}")
    unknown = [name for name in options if name not in allowed]
    if unknown:
        raise ConfigError(f"unknown reset option {unknown[0]!r}; allowed: {', '.join(allowed)}")


def check_render_mode(render_mode: str | None) -> None:
    """Refuse an unknown render mode, and one that cannot be drawn for want of pygame-ce.

    Raises:
        ConfigError: It is neither None nor one of RENDER_MODES.
        PackageError: pygame-ce is missing.
    """
    if render_mode not in (None, *RENDER_MODES):
        raise ConfigError(f"render_mode must be None, {' or '.join(map(repr, RENDER_MODES))}, got {render_mode!r}")
    if render_mode is not None:
        need("drawing", "pygame")


def make_action_space() -> spaces.Box:
    """Return the action space: steer [-1, 1] (positive turns right), throttle [0, 1], brake [0, 1]."""
    return _box(ACTION)


def make_observation_space() -> spaces.Box:
    """Return the observation space: 14 values, each within [0, 1] or [-1, 1]."""
    return _box(OBSERVATION)


def _box(values: Sequence[Value]) -> spaces.Box:
    low, high = (np.array([getattr(value, end) for value in values], np.float32) for end in ("low", "high"))
    return spaces.Box(low, high, dtype=np.float32)


def _dictionary_makers(
    keys: Sequence[str],
) -> tuple[Callable[..., dict[str, Any]], Callable[[Any], list[dict[str, Any]]]]:
    """Return a function that makes a dictionary with the keys of as many values, and one that makes a list of them.

    A dictionary display is twice as fast as zipping keys and values, and every step makes a dictionary for each car,
    so this generates one.
    """
    names = [f"value_{index}" for index in range(len(keys))]
    values = ", ".join(names)
    display = f"{{{', '.join(f'{key!r}: {name}' for key, name in zip(keys, names, strict=True))}}}"
    return eval(f"lambda {values}: {display}"), eval(f"lambda rows: [{display} for {values} in rows]")


_make_step_info, _make_step_infos = _dictionary_makers(STEP_INFO_KEYS)
# INFO_DTYPE as a C structure. NumPy takes three times as long to make Python's numbers of a record.
_STEP_INFO = struct.Struct("".join({float: "d", int: "q", bool: "?"}[field.type] for field in STEP_INFO))


def step_infos(records: npt.NDArray[np.void]) -> list[dict[str, Any]]:
    """Return the info dictionaries of a step.

    Args:
        records: (N,) INFO_DTYPE records, one per car.
    """
    return _make_step_infos(_STEP_INFO.iter_unpack(records))  # type: ignore[arg-type]


def step_info(records: npt.NDArray[np.void]) -> dict[str, Any]:
    """Return the info dictionary of the first car's step, from INFO_DTYPE records."""
    return _make_step_info(*_STEP_INFO.unpack_from(records))  # type: ignore[arg-type]


_CAR_FIELDS = {field: re.sub("(?=[A-Z])", "_", field.name).lower() for field in RESET_INFO}


def reset_info(car: npt.NDArray[np.void]) -> dict[str, Any]:
    """Return the info dictionary of a reset, from one CAR_DTYPE record."""
    return {field.name: field.type(car[name]) for field, name in _CAR_FIELDS.items()}
