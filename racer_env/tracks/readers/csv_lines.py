"""Centre lines of racetrack databases: a row for each point, with the distances of the road's edges.

The usual first line is ``# x_m,y_m,w_tr_right_m,w_tr_left_m``. Comma, semicolon or tab may part the columns, and the
first line may be missing.
"""

import re
from pathlib import Path

from racer_env.errors import TrackError
from racer_env.json_files import Checker, shown
from racer_env.tracks.readers.road import Reading, SourceRoad, make_road, read_text, role_of

# Without a first line that names the columns, their number tells what they are.
_UNNAMED = {
    2: ("x", "y"),
    3: ("x", "y", "width"),
    4: ("x", "y", "w_right", "w_left"),
}


def read_csv(path: Path, reading: Reading) -> list[SourceRoad]:
    """Read the road of a file of rows.

    Raises:
        TrackError: The file cannot be read, or its columns are not those of a road.
    """
    check = Checker(TrackError, str(path))
    named: list[str] | None = None
    rows: list[tuple[int, list[str]]] = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        fields = _fields(line.lstrip("#").strip())
        if not any(fields):
            continue
        is_comment, roles = line.lstrip().startswith("#"), {role_of(field) for field in fields}
        if not rows and not named and {"x", "y"} <= roles:
            named = fields
        elif not is_comment and (rows or named or _number(fields[0]) is not None):
            rows.append((number, fields))
        elif not is_comment:
            raise check.fail(f"line {number}: expected numbers, or names of columns with x and y, got {shown(line)}")
    if not rows:
        raise check.fail("it holds no rows of numbers; expected x, y, w_right, w_left")
    names = named or _UNNAMED.get(len(rows[0][1]))
    if names is None:
        raise check.fail(
            f"line {rows[0][0]}: expected x, y, w_right, w_left, got {len(rows[0][1])} columns; name them in the first "
            "line"
        )
    road = make_road(check, [_row(check, number, fields, names) for number, fields in rows], reading)
    road.is_line = True
    left_out = [name for name in names if role_of(name) is None]
    if left_out:
        road.said.append(f"columns that do not shape the road were left out: {', '.join(left_out)[:200]}")
    return [road]


def _fields(line: str) -> list[str]:
    """Return the columns of a line; where semicolons part them, a comma is a decimal point."""
    mark = next((mark for mark in ";\t," if mark in line), None)
    fields = [field.strip() for field in (line.split(mark) if mark else line.split())]
    fields = fields[:-1] if fields and not fields[-1] else fields
    return [re.sub(r"^([+-]?\d*),(\d+)$", r"\1.\2", field) for field in fields] if mark == ";" else fields


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _row(
    check: Checker, line: int, fields: list[str], names: "list[str] | tuple[str, ...]"
) -> dict[str, tuple[str, float]]:
    """Return the numbers of a row by role."""
    if len(fields) != len(names):
        raise check.fail(f"line {line}: expected {len(names)} columns ({', '.join(names)[:200]}), got {len(fields)}")
    row: dict[str, tuple[str, float]] = {}
    for name, text in zip(names, fields, strict=True):
        role, number = role_of(name), _number(text)
        if role is None:
            continue
        if role in row:
            raise check.fail(f"two columns are the road's {role}: {row[role][0].rpartition('.')[2]} and {name}")
        if number is None:
            raise check.fail(f"line {line}: {name} must be a number, got {shown(text)}")
        row[role] = (f"line {line}.{name}", number)
    return row
