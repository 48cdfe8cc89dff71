"""A road as a file from elsewhere has it: points and the distances of its edges, in the file's own units."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from racer_env.errors import TrackError
from racer_env.files import read_file
from racer_env.json_files import Checker
from racer_env.tracks.track import FloatArray

HALF, FULL = "half", "full"
MAX_BYTES = 2_000_000  # of a file; a lap of 20 km with a row for each metre has half of it
MAX_ROWS = 20_000  # points of one road
LEAST_SCALE, MOST_SCALE = 1e-4, 1e4  # units for each unit of a file
MAX_ROADS = 100  # of one file; each takes some hundredths of a second
MAX_NUMBER = 1e7  # of a file; anything on a race track is smaller, in millimetres too

# What the columns and keys of such files are called, without case, blanks, dashes and a unit of _m.
_ROLES = {
    "x": "x",
    "y": "y",
    **dict.fromkeys(("halfwidth", "half"), "half"),
    **dict.fromkeys(("width", "w", "roadwidth", "trackwidth"), "width"),
    **dict.fromkeys(("wtrright", "wright", "widthright", "rightwidth", "right"), "right"),
    **dict.fromkeys(("wtrleft", "wleft", "widthleft", "leftwidth", "left"), "left"),
}
KNOWN_NAMES = "x, y, halfWidth, width, w_tr_right_m, w_tr_left_m"


@dataclass(frozen=True)
class Reading:
    """What a file does not say, or says otherwise.

    Attributes:
        width_is: What a plain ``width`` is, HALF or FULL; None where nobody has said it.
        half_width: Half of the road's width everywhere, in units, instead of what the file says; None leaves that.
        scale: Units for each unit of the file, a metre for example.
        y_is_down: Whether y grows downwards; None is as such files usually are.
    """

    width_is: str | None = None
    half_width: float | None = None
    scale: float = 1.0
    y_is_down: bool | None = None


@dataclass
class SourceRoad:
    """A closed road in the units of its file, y upwards.

    Attributes:
        where: Name of the file, and of the road in it, for messages.
        points: (n, 2) points in driving order.
        left, right: (n,) distances of the road's edges from the points; None where --half-width says it.
        is_line: Whether the points are samples of a line, which control points are to follow, or control points.
        id: Id in the file; None if it has none.
        name: Display name; None if it has none.
        checkpoint_count: Number of gates; None if the file does not say.
        said: Sentences on how the file was taken.
    """

    where: str
    points: FloatArray
    left: FloatArray | None
    right: FloatArray | None
    is_line: bool
    id: str | None = None
    name: str | None = None
    checkpoint_count: int | None = None
    said: list[str] = field(default_factory=list)


def read_bytes(path: Path) -> bytes:
    """Return the content of a file from elsewhere.

    Raises:
        TrackError: It is missing, unreadable, too large or empty.
    """
    try:
        content = read_file(path, MAX_BYTES)
    except FileNotFoundError as missing:
        raise TrackError(f"file not found: {path}") from missing
    except OSError as unreadable:
        raise TrackError(f"cannot read {path}: {unreadable.strerror or unreadable}") from unreadable
    if not content.strip():
        raise TrackError(f"{path} is empty")
    return content


def read_text(path: Path) -> str:
    """Return the text of a file from elsewhere.

    Raises:
        TrackError: As for ``read_bytes``; also if it is no text.
    """
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as binary:
        raise TrackError(
            f"{path} is no text in UTF-8: byte {binary.start:,} is {binary.object[binary.start]:#04x}"
        ) from binary
    if "\0" in text:
        raise TrackError(f"{path} is no text: it holds zero bytes")
    return text


def role_of(name: str) -> str | None:
    """Return what a column or key holds: x, y, half, width, left or right; None for anything else."""
    plain = re.sub(r"[\s_-]", "", re.sub(r"(_m|\s*[\[(]m[\])])$", "", name.strip().lower()))
    return _ROLES.get(plain)


def make_road(
    check: Checker, rows: Sequence[Mapping[str, tuple[str, Any]]], reading: Reading, y_is_down: bool = False
) -> SourceRoad:
    """Return the road of rows of numbers, checked.

    Args:
        check: Words the errors; its name of the document becomes the road's.
        rows: For each point, by role, what the number is called in messages, and the number.
        reading: What is not in the file.
        y_is_down: Whether y grows downwards in such files.

    Raises:
        TrackError: A number is missing or impossible, or nobody says how wide the road is.
    """
    if len(rows) > MAX_ROWS:
        raise check.fail(f"expected at most {MAX_ROWS:,} points, got {len(rows):,}")
    roles = list(rows[0])
    values = np.array([_numbers(check, row, roles) for row in rows])
    columns = dict(zip(roles, values.T, strict=True))
    names = {role: name.rpartition(".")[2] for role, (name, _) in rows[0].items()}
    said: list[str] = []
    left, right = _edges(check, columns, names, reading, said)
    y_is_down = y_is_down if reading.y_is_down is None else reading.y_is_down
    said.append(
        "y is taken to grow downwards, as on a screen, and was turned round" if y_is_down else "y grows upwards"
    )
    points = np.stack([columns["x"], -columns["y"] if y_is_down else columns["y"]], axis=1)
    return SourceRoad(check.where, points, left, right, is_line="left" in columns, said=said)


def _numbers(check: Checker, row: Mapping[str, tuple[str, Any]], roles: Sequence[str]) -> list[float]:
    numbers = []
    for role in roles:
        if role not in row:
            known = next(iter(row.values()))[0].rpartition(".")[0]
            raise check.fail(f"{known or 'a point'} lacks the {role} that the first point has")
        name, value = row[role]
        number = check.number(value, name)
        if abs(number) > MAX_NUMBER:
            raise check.fail(f"{name} must be within {MAX_NUMBER:,.0f} of 0, got {number:g}")
        if number < 0 and role not in ("x", "y"):
            raise check.fail(f"{name} must not be negative, got {number:g}")
        if number == 0 and role in ("half", "width"):
            raise check.fail(f"{name} must be positive, got 0")
        numbers.append(number)
    more = next((name for role, (name, _) in row.items() if role not in roles), None)
    if more is not None:
        raise check.fail(f"{more} is not among what the first point has")
    return numbers


def _edges(
    check: Checker, columns: Mapping[str, FloatArray], names: Mapping[str, str], reading: Reading, said: list[str]
) -> tuple[FloatArray | None, FloatArray | None]:
    """Return the distances of the left and the right edge, and say what they were taken from."""
    if reading.half_width is not None:
        said.append(f"half-widths are {reading.half_width:g} units (--half-width)")
        return None, None
    if "left" in columns and "right" in columns:
        narrow = np.flatnonzero(columns["left"] + columns["right"] <= 0)
        if len(narrow):
            raise check.fail(f"point {narrow[0] + 1} has no width: {names['right']} and {names['left']} are both 0")
        said.append(f"{names['right']} and {names['left']} are taken as distances of the edges")
        return columns["left"], columns["right"]
    if "half" in columns:
        if reading.width_is == FULL:
            raise check.fail(f"{names['half']} says that it is half of the width; leave out --width-is full")
        said.append(f"{names['half']} is taken as half of the road's width")
        return columns["half"], columns["half"]
    if "width" not in columns:
        raise check.fail("nothing says how wide the road is; give half of its width in units with --half-width")
    if reading.width_is is None:
        raise check.fail(
            f"{names['width']} may be half of the road's width, as in the game, or all of it; say --width-is half or "
            "--width-is full"
        )
    half = columns["width"] * (1.0 if reading.width_is == HALF else 0.5)
    said.append(f"{names['width']} is taken as the {reading.width_is} width (--width-is)")
    return half, half
