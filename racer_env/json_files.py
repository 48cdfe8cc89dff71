"""Reading JSON files and checking what is in them, with errors that name file and key."""

import json
import math
import numbers
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from racer_env.errors import RacerError
from racer_env.files import read_file

MAX_JSON = 8_000_000  # bytes; the par times of 16,384 tracks have fewer, and a track of 1,000 points a fiftieth


def read_json(path: Path, error: type[RacerError], what: str, encoding: str = "utf-8") -> Any:
    """Read a JSON file.

    Args:
        path: Path of the file.
        error: Exception class to raise.
        what: What the file should be, for the message ("track", "configuration").
        encoding: "utf-8-sig" also takes a byte order mark, which the game's own files may not have.

    Raises:
        error: The file is missing, unreadable, too large, or not JSON.
    """
    try:
        return json.loads(read_file(path, MAX_JSON).decode(encoding))
    except FileNotFoundError as missing:
        raise error(f"{what} file not found: {path}") from missing
    except (OSError, UnicodeDecodeError) as unreadable:
        raise error(f"cannot read {what} file {path}: {unreadable}") from unreadable
    except RecursionError as deep:
        raise error(f"{what} file {path} is nested too deeply") from deep
    except json.JSONDecodeError as broken:
        raise error(
            f"{what} file {path} is not valid JSON: {broken.msg} at line {broken.lineno}, column {broken.colno}"
        ) from broken
    except ValueError as long:  # Python reads no whole number of more than 4,300 digits
        raise error(f"{what} file {path} holds a whole number of thousands of digits; correct it") from long


MAX_INTEGER = 2**31 - 1


class Checker:
    """Checks values from one JSON document and words the errors.

    Attributes:
        error: Exception class to raise.
        where: Name of the document, which begins every message.
    """

    def __init__(self, error: type[RacerError], where: str) -> None:
        self.error = error
        self.where = where

    def fail(self, message: str) -> RacerError:
        """Return the error for ``message``; the caller raises it."""
        return self.error(f"{self.where}: {message}")

    def mapping(self, value: Any, key: str, allowed: Iterable[str], required: Iterable[str] = ()) -> dict[str, Any]:
        """Return ``value`` as a dict in which every key is allowed and no required key is missing."""
        if not isinstance(value, dict):
            raise self.fail(f"{key} must be an object, got {type(value).__name__}")
        allowed = list(allowed)
        for name in value:
            if name not in allowed:
                raise self.fail(f"unknown key {name!r} in {key}; allowed: {', '.join(allowed)}")
        for name in required:
            if name not in value:
                raise self.fail(f"{key} lacks the key {name!r}")
        return value

    def number(self, value: Any, key: str) -> float:
        """Return ``value`` as a finite float; a bool or a string is not a number."""
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise self.fail(f"{key} must be a number, got {shown(value)}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self.fail(f"{key} must be a finite number, got {shown(value)}")
        return number

    def integer(self, value: Any, key: str, at_least: int) -> int:
        """Return ``value`` as an int that is at least ``at_least``; 3000.0 counts as 3000."""
        number = self.number(value, key)
        if number != int(number):
            raise self.fail(f"{key} must be a whole number, got {shown(value)}")
        if number < at_least:
            raise self.fail(f"{key} must be at least {at_least}, got {shown(value)}")
        if number > MAX_INTEGER:
            raise self.fail(f"{key} must be at most {MAX_INTEGER}, got {shown(value)}")
        return int(number)

    def text(self, value: Any, key: str) -> str:
        """Return ``value`` as a string that is not empty."""
        if not isinstance(value, str) or not value:
            raise self.fail(f"{key} must be a non-empty string, got {shown(value)}")
        return value


def shown(value: Any) -> str:
    """Return a value for a message, cut if it is long."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
