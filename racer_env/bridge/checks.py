"""Checks the values of a bridge's replies and words the errors: which field of which reply, and what came.

``where`` is the object that holds a value, such as ``step_result.info``. Every check returns the value, and raises a
``BridgeProtocolError`` if it is not what it should be.
"""

import json
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.contract import OBSERVATION_SIZE
from racer_env.errors import BridgeProtocolError

MAX_SHOWN = 80  # characters of a message in an error
FINGERPRINT_LENGTH = 64
MAX_WHOLE = 2**53  # beyond it, doubles cannot hold every whole number
LARGEST_OBSERVED = 1.0 + 1e-6  # largest value of an observation, with room for rounding
_NUMBERS = {int, float}


def value_of(message: Any, key: str, where: str) -> Any:
    """Return the value of a key of an object."""
    if not isinstance(message, dict):
        raise BridgeProtocolError(f"{where} must be an object, got {shown(message)}")
    if key not in message:
        keys = one_line(", ".join(map(str, message)), MAX_SHOWN)
        raise BridgeProtocolError(f"{where} lacks the key {key!r}; it has: {keys or 'none'}")
    return message[key]


def list_of(message: Any, key: str, where: str, length: int | None = None) -> list[Any]:
    """Return the list under a key; of a given length, if one is given."""
    value = value_of(message, key, where)
    if not isinstance(value, list):
        raise BridgeProtocolError(f"{where}.{key} must be a list, got {shown(value)}")
    if length is not None and len(value) != length:
        raise BridgeProtocolError(f"{where}.{key} must be a list of {length}, got {len(value)} entries")
    return value


def finite_number(value: Any, where: str, key: str) -> float:
    """Return a value as a finite number."""
    if type(value) not in _NUMBERS or not math.isfinite(value):
        raise BridgeProtocolError(f"{where}.{key} must be a finite number, got {shown(value)}")
    return float(value)


def whole_number(value: Any, where: str, key: str, at_least: int) -> int:
    """Return a value as a whole number that a double can hold, of at least ``at_least``."""
    number = finite_number(value, where, key)
    if number != int(number) or not at_least <= number <= MAX_WHOLE:
        raise BridgeProtocolError(f"{where}.{key} must be a whole number of at least {at_least}, got {shown(value)}")
    return int(number)


def truth_value(value: Any, where: str, key: str) -> bool:
    """Return a value that is true or false."""
    if type(value) is not bool:
        raise BridgeProtocolError(f"{where}.{key} must be true or false, got {shown(value)}")
    return value


def fingerprint_of(value: Any, where: str, key: str) -> str:
    """Return a value as a fingerprint."""
    if not isinstance(value, str) or len(value) != FINGERPRINT_LENGTH:
        raise BridgeProtocolError(f"{where}.{key} must be {FINGERPRINT_LENGTH} hexadecimal digits, got {shown(value)}")
    return value


def observation_of(values: Any, where: str) -> npt.NDArray[np.float64]:
    """Return a value as an observation (14,) float64; ``where`` is its own place."""
    if (
        type(values) is not list
        or len(values) != OBSERVATION_SIZE
        or not set(map(type, values)) <= _NUMBERS
        or not (min(values) >= -LARGEST_OBSERVED and max(values) <= LARGEST_OBSERVED and sum(values) == sum(values))
    ):
        raise BridgeProtocolError(
            f"{where} must be {OBSERVATION_SIZE} numbers within [-1, 1], got {_described(values)}"
        )
    return np.array(values, np.float64)


def _described(values: Any) -> str:
    if not isinstance(values, list):
        return shown(values)
    for index, value in enumerate(values):
        if type(value) not in _NUMBERS or not abs(value) <= LARGEST_OBSERVED:
            return f"{len(values)} entries with {shown(value)} at {index}"
    return f"{len(values)} numbers"


def shown(value: Any) -> str:
    """Return a value in a form fit for a message."""
    try:
        text = value.decode(errors="replace") if isinstance(value, bytes) else repr(value)
    except RecursionError:
        text = f"a {type(value).__name__} that is nested too deeply"
    return one_line(text, MAX_SHOWN)


def one_line(text: str, length: int) -> str:
    """Return a peer's text in a form fit for a message: printable, on one line, and not too long."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * length]).split())
    return text if len(text) <= length else text[: length - 3] + "..."


def no_number_of_json(data: bytes, where: str) -> str | None:
    """Return what is wrong with a reply that holds NaN or infinity, which JSON does not have; None if it does not.

    Args:
        data: A text that strict JSON refuses.
        where: The expected type of the reply.
    """
    try:
        field = _not_finite(json.loads(data), where)
    except (ValueError, RecursionError):
        return None
    return None if field is None else f"{field[0]} must be a finite number, got {field[1]}"


def _not_finite(value: Any, where: str) -> tuple[str, float] | None:
    """Return the place and value of the first number that is not finite."""
    if isinstance(value, float):
        return None if math.isfinite(value) else (where, value)
    if isinstance(value, dict):
        inner = [(f"{where}.{one_line(key, MAX_SHOWN)}", item) for key, item in value.items()]
    elif isinstance(value, list):
        inner = [(f"{where}[{index}]", item) for index, item in enumerate(value)]
    else:
        return None
    return next((found for place, item in inner if (found := _not_finite(item, place)) is not None), None)
