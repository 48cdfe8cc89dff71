"""The content of track files.

A track is a JSON file with the keys ``id``, ``name``, ``checkpointCount`` and ``controlPoints``. The last is a list
of at least three ``{"x", "y", "halfWidth"}`` in units, in driving order; the first point is the start line.
"""

from typing import Any

import numpy as np

from racer_env.errors import TrackError
from racer_env.json_files import Checker
from racer_env.physics import Physics, load_physics
from racer_env.tracks.checks import check_drivable, check_points, check_size
from racer_env.tracks.names import MAX_ID, is_track_id
from racer_env.tracks.track import FloatArray, Track

MIN_POINTS, MAX_POINTS = 3, 1_000  # control points; the simulator's tables hold no more


def parse_track(
    document: Any, where: str = "track", physics: Physics | None = None, must_be_drivable: bool = True
) -> Track:
    """Check a parsed track file.

    Args:
        document: The parsed JSON document.
        where: Name of the document in error messages, such as a path.
        physics: Physics to build the track for; None is the project's.
        must_be_drivable: Whether to refuse crossing walls, unreachable gates and a start off the road; a track that
            the game itself drives on may be taken as it is.

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
    check_size(check, track)
    if must_be_drivable:
        check_drivable(check, track.geometry)
    return track


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
    check_points(check, points)
    return points, half_widths


def _id(check: Checker, value: Any) -> str:
    """Return a track's checked id, which also serves as a file name."""
    text = check.text(value, "id")
    if not is_track_id(text):
        allowed = f"up to {MAX_ID} letters, digits, blanks and -_.()+ (fewer of other scripts)"
        raise check.fail(f"id must be {allowed}, got {text!r}"[:300])
    return text
