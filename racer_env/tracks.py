"""Track files: finding, loading and checking them.

A track is a JSON file with the keys ``id``, ``name``, ``checkpointCount`` and ``controlPoints``, the latter a
list of at least three ``{"x", "y", "halfWidth"}`` in units, in driving order; the first is the start line.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.config import PROJECT_ROOT
from racer_env.errors import TrackError
from racer_env.json_files import Checker, read_json
from racer_env.physics import DT, Physics, fingerprint_of, load_physics
from racer_env.simulator.geometry import TrackGeometry

DEFAULT_TRACKS_DIR = PROJECT_ROOT / "tracks"
ALL_TRACKS = "all"

MAX_LENGTH = 15_000.0  # units; what the simulator's tables can hold
MIN_POINTS, MAX_POINTS = 3, 1_000  # control points; for the same reason
# What files are named by on any system: no separators, no line ends, nothing that is hidden or cut off.
_ID = re.compile(r"\w(?:[\w .()+-]*[\w()+-])?")
MAX_ID = 100  # bytes
MIN_POINT_DISTANCE = 1e-6  # units; nearer control points are duplicates
SEGMENTS_IN_RUN = 8  # consecutive segments of a wall that are compared with others as one box
RUNS_AT_ONCE = 4_096  # pairs of runs that are looked at together, so that a ball of a road needs no gigabytes
DRIVE_STEP = 2.0  # units between the points of the test drive along the centre line
MIN_GATE_REACH = 60.0  # units of the centre line on either side of a gate where the test drive looks for it

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Track:
    """A checked track.

    Attributes:
        id: Its name on the command line.
        name: Its name for people.
        checkpoint_count: Number of gates.
        points: (n, 2) control points, in units.
        half_widths: (n,) half of the road's width there, in units.
        physics: The physics it is built for.
    """

    id: str
    name: str
    checkpoint_count: int
    points: FloatArray
    half_widths: FloatArray
    physics: Physics

    @cached_property
    def geometry(self) -> TrackGeometry:
        """Centre line, walls, gates and start."""
        return TrackGeometry(self.points, self.half_widths, self.checkpoint_count, self.physics.wall_offset)

    @property
    def length(self) -> float:
        """Length of the centre line, in units."""
        return self.geometry.total_length

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over what shapes the road: gates and control points, but neither id nor name."""
        return fingerprint_of(
            {"checkpointCount": self.checkpoint_count, "controlPoints": self.to_json()["controlPoints"]}
        )

    def to_json(self) -> dict[str, Any]:
        """Return the content of the track's file."""
        return {
            "id": self.id,
            "name": self.name,
            "checkpointCount": self.checkpoint_count,
            "controlPoints": [
                {"x": float(x), "y": float(y), "halfWidth": float(half_width)}
                for (x, y), half_width in zip(self.points, self.half_widths, strict=True)
            ],
        }


def load_track(name: str | Path, tracks_dir: str | Path | None = None, physics: Physics | None = None) -> Track:
    """Load and check a track.

    Args:
        name: An id, looked up in ``tracks_dir`` and then among the shipped tracks; a path to a file, which is
            anything that ends in ``.json``; or ``procedural-7-12``, which is generated, see ``track_generator``.
        tracks_dir: A folder of track files.
        physics: What to build it for; None is the project's.

    Raises:
        TrackError: There is no such track, or its file is wrong; the message says what and where.
    """
    from racer_env import track_generator  # it builds on this module

    is_own = tracks_dir is not None and (_folder(tracks_dir) / f"{name}.json").is_file()
    if track_generator.is_generated(str(name)) and not is_own:
        return track_generator.track_of_name(str(name), physics)
    path = _find(str(name), tracks_dir)
    return parse_track(read_json(path, TrackError, "track"), str(path), physics)


def load_tracks(
    names: Sequence[str | Path], tracks_dir: str | Path | None = None, physics: Physics | None = None
) -> list[Track]:
    """Load several tracks; the name ``all`` stands for every track of the folder, in order of id.

    Raises:
        TrackError: As for ``load_track``; also when a track is named twice.
    """
    wanted: list[str] = []
    for name in names:
        wanted.extend(available_tracks(tracks_dir) if str(name) == ALL_TRACKS else [str(name)])
    tracks = [load_track(name, tracks_dir, physics) for name in wanted]
    seen: dict[str, str] = {}
    for name, track in zip(wanted, tracks, strict=True):
        if track.id in seen:
            raise TrackError(
                f"{seen[track.id]} and {name} are both the track {track.id!r}; name every track once, "
                "and give every file an id of its own"
            )
        seen[track.id] = name
    return tracks


def available_tracks(tracks_dir: str | Path | None = None) -> list[str]:
    """Return the ids of the tracks in a folder; None is the shipped ones.

    Raises:
        TrackError: The folder does not exist or holds no track.
    """
    folder = DEFAULT_TRACKS_DIR if tracks_dir is None else _folder(tracks_dir)
    ids = sorted(path.stem for path in folder.glob("*.json"))
    if not ids:
        raise TrackError(f"no track files (*.json) in {folder}")
    return ids


def _folder(tracks_dir: str | Path) -> Path:
    folder = Path(tracks_dir)
    if not folder.is_dir():
        raise TrackError(f"tracks folder not found: {folder}")
    return folder


def _find(name: str, tracks_dir: str | Path | None) -> Path:
    if name.endswith(".json"):
        return Path(name)
    folders = [DEFAULT_TRACKS_DIR] if tracks_dir is None else [Path(tracks_dir), DEFAULT_TRACKS_DIR]
    for folder in folders:
        known = available_tracks(folder)
        if name in known:
            return folder / f"{name}.json"
    known = sorted({track_id for folder in folders for track_id in available_tracks(folder)})
    raise TrackError(
        f"no track {name!r} in {' or '.join(str(folder) for folder in folders)}; there are: {', '.join(known)}; "
        "a path to a file ends in .json, procedural-7-12 is generated, and so are sets: procedural:8, "
        "procedural-hard:8, procedural-oval:8"
    )


def parse_track(
    document: Any, where: str = "track", physics: Physics | None = None, must_be_drivable: bool = True
) -> Track:
    """Check a parsed track file.

    Args:
        document: The parsed JSON document.
        where: Its name in error messages, a path for example.
        physics: What to build it for; None is the project's.
        must_be_drivable: Whether to refuse crossing walls, unreachable gates and a start off the road; what the
            game itself drives on may be taken as it is.

    Raises:
        TrackError: Keys, types or numbers are wrong, or the track cannot be driven.
    """
    check = Checker(TrackError, where)
    keys = ("id", "name", "checkpointCount", "controlPoints")
    content = check.mapping(document, "the track", keys, required=keys)
    points, half_widths = _control_points(check, content["controlPoints"])
    track = Track(
        id=_id(check, content["id"]),
        name=check.text(content["name"], "name"),
        checkpoint_count=check.integer(content["checkpointCount"], "checkpointCount", 2),
        points=points,
        half_widths=half_widths,
        physics=physics if physics is not None else load_physics(),
    )
    _check_size(check, track)
    if must_be_drivable:
        _check_drivable(check, track.geometry)
    return track


def check_track(track: Track) -> None:
    """Check that a track that did not come from a file can be driven, as one from a file is checked.

    Raises:
        TrackError: It cannot be driven.
    """
    check = Checker(TrackError, track.id)
    _check_points(check, track.points)
    _check_size(check, track)
    _check_drivable(check, track.geometry)


def _control_points(check: Checker, value: Any) -> tuple[FloatArray, FloatArray]:
    if not isinstance(value, list):
        raise check.fail(f"controlPoints must be a list, got {type(value).__name__}")
    if not MIN_POINTS <= len(value) <= MAX_POINTS:
        raise check.fail(f"controlPoints must hold {MIN_POINTS} to {MAX_POINTS:,} points, got {len(value):,}")
    rows = []
    for index, entry in enumerate(value):
        key = f"controlPoints[{index}]"
        point = check.mapping(entry, key, ("x", "y", "halfWidth"), required=("x", "y", "halfWidth"))
        rows.append([check.number(point[name], f"{key}.{name}") for name in ("x", "y", "halfWidth")])
        if rows[-1][2] <= 0:
            raise check.fail(f"{key}.halfWidth must be positive, got {point['halfWidth']}")
    array = np.array(rows)
    points, half_widths = array[:, :2].copy(), array[:, 2].copy()
    _check_points(check, points)
    return points, half_widths


def _check_points(check: Checker, points: FloatArray) -> None:
    apart = np.hypot(*np.moveaxis(points[:, None] - points, 2, 0))
    same = np.argwhere(np.triu(apart < MIN_POINT_DISTANCE, 1))
    if len(same):
        index, again = same[0]
        raise check.fail(
            f"controlPoints[{again}] repeats controlPoints[{index}]; the loop closes by itself, remove one"
        )


def _id(check: Checker, value: Any) -> str:
    """Return a track's id; files are named by it."""
    text = check.text(value, "id")
    if not _ID.fullmatch(text) or len(text.encode()) > MAX_ID:
        allowed = f"up to {MAX_ID} letters, digits, blanks and -_.()+ (fewer of other scripts)"
        raise check.fail(f"id must be {allowed}, got {text!r}"[:300])
    return text


def _check_size(check: Checker, track: Track) -> None:
    polygon = np.hypot(*(np.roll(track.points, -1, axis=0) - track.points).T).sum()
    if polygon > MAX_LENGTH:
        raise check.fail(f"the track is {polygon:,.0f} units long; the most is {MAX_LENGTH:g}")
    gate_distance, step = track.length / track.checkpoint_count, track.physics.max_speed * DT
    if gate_distance <= step:
        raise check.fail(
            f"checkpointCount {track.checkpoint_count} puts gates {gate_distance:.3g} units apart; a car moves up to "
            f"{step:.3g} per tick, so use at most {int(track.length / step)}"
        )


def _check_drivable(check: Checker, geometry: TrackGeometry) -> None:
    for name, line, other in (
        ("inner wall crosses itself", geometry.inner_wall, None),
        ("outer wall crosses itself", geometry.outer_wall, None),
        ("inner and outer wall cross", geometry.inner_wall, geometry.outer_wall),
    ):
        crossing = _first_crossing(line, line if other is None else other, other is None)
        if crossing is not None:
            raise check.fail(
                f"the {name} near ({crossing[0]:.0f}, {crossing[1]:.0f}); "
                "move the control points apart, soften the curve or narrow the road there"
            )
    _check_start(check, geometry)
    _check_gates(check, geometry)


def _check_start(check: Checker, geometry: TrackGeometry) -> None:
    x, y, _ = geometry.start
    if _is_inside(geometry.inner_wall, x, y) or not _is_inside(geometry.outer_wall, x, y):
        raise check.fail(f"the start ({x:.0f}, {y:.0f}), which is controlPoints[0], is off the road")


def _check_gates(check: Checker, geometry: TrackGeometry) -> None:
    """Drive a lap along the centre line and look whether it crosses every gate, in order."""
    gates, length = geometry.gates, geometry.total_length
    steps = math.ceil(length / DRIVE_STEP)
    line_x, line_y = geometry.centre_line.point_at(np.arange(steps) * length / steps).T.copy()
    reach = max(MIN_GATE_REACH, 1.5 * length / len(gates.arc_length))
    around = np.arange(-math.ceil(reach / DRIVE_STEP), math.ceil(reach / DRIVE_STEP) + 1)
    place = np.floor(gates.arc_length[:, None] * steps / length).astype(np.int64) + around
    (left_x, left_y), (across_x, across_y) = gates.left.T, (gates.right - gates.left).T
    offset_x, offset_y = line_x[place % steps] - left_x[:, None], line_y[place % steps] - left_y[:, None]
    # Each point is on one side of a gate, so that no rounding can hide a crossing between two of them.
    side = across_x[:, None] * offset_y - across_y[:, None] * offset_x
    gate, which = np.nonzero((side[:, :-1] > 0) != (side[:, 1:] > 0))
    step_x, step_y = (line[gate, which + 1] - line[gate, which] for line in (offset_x, offset_y))
    share = side[gate, which] / (side[gate, which] - side[gate, which + 1])
    met_x, met_y = offset_x[gate, which] + share * step_x, offset_y[gate, which] + share * step_y
    met = met_x * across_x[gate] + met_y * across_y[gate]
    forwards = step_x * gates.direction[gate, 0] + step_y * gates.direction[gate, 1] > 0
    crossed = forwards & (met >= 0) & (met <= (across_x**2 + across_y**2)[gate])
    crossings: list[list[int]] = [[] for _ in gates.arc_length]
    for number, at in zip(gate[crossed].tolist(), place[gate, which][crossed].tolist(), strict=True):
        crossings[number].append(at + (steps if number == 0 else 0))
    at = 0
    for number in [*range(1, len(crossings)), 0]:
        later = [crossing for crossing in crossings[number] if crossing >= at]
        if not later:
            x, y = gates.centre[number]
            raise check.fail(
                f"gate {number} near ({x:.0f}, {y:.0f}) cannot be crossed by driving along the centre line; "
                "soften the curve there or change checkpointCount"
            )
        at = later[0]


def _cross(u: FloatArray, v: FloatArray) -> FloatArray:
    product: FloatArray = u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
    return product


def _crosses(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> npt.NDArray[np.bool_]:
    """Return whether segments a-b and c-d (..., 2) cross or touch; parallel ones do not."""
    r, s = b - a, d - c
    denominator = _cross(r, s)
    safe = np.where(denominator == 0, 1.0, denominator)
    t, u = _cross(c - a, s) / safe, _cross(c - a, r) / safe
    met: npt.NDArray[np.bool_] = (denominator != 0) & (t >= 0) & (t <= 1) & (u >= 0) & (u <= 1)
    return met


def _first_crossing(line: FloatArray, other: FloatArray, is_same: bool) -> FloatArray | None:
    """Return where two closed polylines cross, or None; neighbours on one line do not count."""
    # Few pairs are near each other at all, and only those are worth an exact look.
    low, high = _boxes(line, SEGMENTS_IN_RUN)
    others = _boxes(other, SEGMENTS_IN_RUN)
    runs = np.argwhere(_meet(low[..., None], high[..., None], *(corner[:, None] for corner in others)))
    if is_same:  # each pair once
        runs = runs[runs[:, 0] <= runs[:, 1]]
    for first in range(0, len(runs), RUNS_AT_ONCE):
        where = _first_crossing_of(runs[first : first + RUNS_AT_ONCE], line, other, is_same)
        if where is not None:
            return where
    return None


def _first_crossing_of(
    runs: npt.NDArray[np.int64], line: FloatArray, other: FloatArray, is_same: bool
) -> FloatArray | None:
    """Return where one of some pairs (m, 2) of runs of segments crosses, or None."""
    within = np.arange(SEGMENTS_IN_RUN)
    one, two = (run[:, None] * SEGMENTS_IN_RUN + within for run in runs.T)
    one, two = np.repeat(one, SEGMENTS_IN_RUN, axis=1).ravel(), np.tile(two, SEGMENTS_IN_RUN).ravel()
    wanted = (one < len(line) - 1) & (two < len(other) - 1)
    if is_same:
        wanted &= (one + 1 < two) & ((one > 0) | (two < len(line) - 2))
    one, two = one[wanted], two[wanted]
    boxes, others = _boxes(line), _boxes(other)
    near = _meet(*(corner.take(one, axis=1) for corner in boxes), *(corner.take(two, axis=1) for corner in others))
    if not near.any():
        return None
    one, two = one[near], two[near]
    crossed = _crosses(line[one], line[one + 1], other[two], other[two + 1])
    where: FloatArray | None = line[one[crossed].min()] if crossed.any() else None
    return where


def _boxes(line: FloatArray, segments: int = 1) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper corners (2, n) of the boxes around each so many segments of a polyline."""
    first, ends = np.arange(0, len(line) - 1, segments), line.T.copy()
    low, high = np.minimum(ends[:, :-1], ends[:, 1:]), np.maximum(ends[:, :-1], ends[:, 1:])
    return np.minimum.reduceat(low, first, axis=1), np.maximum.reduceat(high, first, axis=1)


def _meet(low: FloatArray, high: FloatArray, other_low: FloatArray, other_high: FloatArray) -> npt.NDArray[np.bool_]:
    """Return whether boxes (2, ...) overlap or touch."""
    meet = (low[0] <= other_high[0]) & (other_low[0] <= high[0])
    meet = meet & (low[1] <= other_high[1]) & (other_low[1] <= high[1])
    return np.asarray(meet, np.bool_)


def _is_inside(polygon: FloatArray, x: float, y: float) -> bool:
    """Return whether a point lies in a closed polygon, by the even-odd rule."""
    a, b = polygon[:-1], polygon[1:]
    spans = (a[:, 1] > y) != (b[:, 1] > y)
    height = np.where(spans, b[:, 1] - a[:, 1], 1.0)
    return bool(np.count_nonzero(spans & (x < a[:, 0] + (y - a[:, 1]) * (b[:, 0] - a[:, 0]) / height)) % 2)
