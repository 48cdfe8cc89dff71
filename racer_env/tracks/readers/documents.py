"""Roads in a game's own data or source: lists of control points, alone, under a key, or many of them under names."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from racer_env.errors import TrackError
from racer_env.json_files import Checker, read_json, shown
from racer_env.tracks.files import MAX_POINTS
from racer_env.tracks.readers.literals import CODE, Code, read_literals
from racer_env.tracks.readers.road import KNOWN_NAMES, Reading, SourceRoad, make_road, read_bytes, read_text, role_of

MAX_DEPTH = 8  # levels of objects and lists around a list of points
_POINTS = ("controlpoints", "points", "track", "path", "centerline", "centreline", "waypoints", "nodes", "vertices")
_POSITIONS = ("position", "pos", "point", "p")
_TRACK_KEYS = ("id", "name", "checkpointCount")
READABLE = (
    "{position: {x, y}, width}, {x, y, halfWidth} or [x, y, width], in a list or under a key such as controlPoints"
)


class Found(NamedTuple):
    """A list of points in a document.

    Attributes:
        key: What the list or the object around it stands under; None for nothing.
        points: The list.
        around: The object that the list is the points of; empty if there is none.
        points_key: The key of the list in it.
    """

    key: str | None
    points: list[Any]
    around: dict[str, Any]
    points_key: str


def read_game_json(path: Path, reading: Reading) -> list[SourceRoad]:
    """Read the roads of a JSON file.

    Raises:
        TrackError: The file cannot be read, or holds no list of points.
    """
    read_bytes(path)  # is there, a file, and not empty
    found = list(find_points(read_json(path, TrackError, "track")))
    if not found:
        raise TrackError(f"{path} holds no list of points; expected {READABLE}")
    return [_road(path, one, reading, alone=len(found) == 1) for one in found]


def read_game_source(path: Path, reading: Reading) -> list[SourceRoad]:
    """Read the roads that stand in a game's source as plain literals; no code is run.

    Raises:
        TrackError: The file cannot be read, or no literal in it is a list of points.
    """
    roads = []
    found = []
    for literal in read_literals(read_text(path), str(path), holds_points):
        here = list(find_points(literal.value, literal.name))
        found += [(one, literal.called) for one in here]
    if not found:
        raise TrackError(f"{path} holds no list of points that can be read without running it; expected {READABLE}")
    for one, called in found:
        road = _road(path, one, reading, alone=len(found) == 1)
        if called:
            road.said.append(f"the points are taken as they stand; {called}() around them was not run")
        roads.append(road)
    return roads


def find_points(value: Any, key: str | None = None, depth: int = 0) -> Iterator[Found]:
    """Yield the lists of points in a document, in its order."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, list):
        if _is_point(value[:1]):
            yield Found(key, value, {}, "points")
        else:
            for entry in value:
                yield from find_points(entry, None, depth + 1)
    elif isinstance(value, dict):
        own = next((name for name in value if _plain(name) in _POINTS and _is_list_of_points(value[name])), None)
        if own is not None:
            yield Found(key, value[own], value, own)
        else:
            for name, inner in value.items():
                yield from find_points(inner, key if _plain(name) in (*_POINTS, "tracks") else name, depth + 1)


def holds_points(value: Any) -> bool:
    """Return whether there is a list of points in a document."""
    return next(find_points(value), None) is not None


def _is_list_of_points(value: Any) -> bool:
    return isinstance(value, list) and _is_point(value[:1])


def _is_point(first: list[Any]) -> bool:
    """Return whether the first of a list is meant to be a point, right or wrong."""
    if not first:
        return False
    point = first[0]
    if isinstance(point, dict):
        names = {_plain(name) for name in point}
        return "x" in names or "y" in names or not names.isdisjoint(_POSITIONS)
    return isinstance(point, list) and 2 <= len(point) <= 4 and all(isinstance(v, int | float | Code) for v in point)


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _road(path: Path, found: Found, reading: Reading, alone: bool) -> SourceRoad:
    own_id, name = found.around.get("id"), found.around.get("name")
    named = [text for text in (own_id, found.key, None if alone else name) if isinstance(text, str) and text]
    check = Checker(TrackError, f"{path}, {named[0]}" if named else str(path))
    rows = [_row(check, f"{found.points_key}[{index}]", point) for index, point in enumerate(found.points)]
    road = make_road(check, rows, reading)
    road.is_line |= len(rows) > MAX_POINTS
    road.id = named[0] if named else None
    road.name = name if isinstance(name, str) and name else None
    if "checkpointCount" in found.around:
        road.checkpoint_count = check.integer(found.around["checkpointCount"], "checkpointCount", 2)
    ignored = [key for key in found.around if key not in (*_TRACK_KEYS, found.points_key)]
    if ignored:
        road.said.append(f"keys that do not shape the road were left out: {', '.join(ignored)[:200]}")
    return road


def _row(check: Checker, key: str, point: Any) -> dict[str, tuple[str, Any]]:
    """Return the numbers of a point by role, each with its name."""
    if isinstance(point, Code):
        raise check.fail(f"{key} is {point!r}; {CODE}")
    if isinstance(point, list):
        if len(point) not in (2, 3):
            raise check.fail(f"{key} must be [x, y] or [x, y, width], got {shown(point)}")
        point = dict(zip(("x", "y", "width"), point, strict=False))
    if not isinstance(point, dict):
        raise check.fail(f"{key} must be a point, {READABLE}, got {shown(point)}")
    row: dict[str, tuple[str, Any]] = {}
    for name, value in point.items():
        if _plain(name) in _POSITIONS:
            row |= _row(check, f"{key}.{name}", value)
            continue
        role = role_of(name)
        if role is None:
            raise check.fail(f"{key} has the unknown key {name!r}; known are: {KNOWN_NAMES}, position")
        if role in row:
            raise check.fail(f"{key} says twice what its {role} is: {row[role][0]} and {name}")
        if isinstance(value, Code):
            raise check.fail(f"{key}.{name} is {value!r}; {CODE}")
        row[role] = (f"{key}.{name}", value)
    for role in ("x", "y"):
        if role not in row:
            raise check.fail(f"{key} lacks the key {role!r}")
    return row
