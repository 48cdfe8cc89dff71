"""Tracks from roads of elsewhere: control points whose spline follows a line, and the project's own checks."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from racer_env.errors import TrackError
from racer_env.tracks.checks import MAX_LENGTH, first_crossing
from racer_env.tracks.files import MAX_POINTS, MIN_POINTS, parse_track
from racer_env.tracks.geometry import CHORDS_PER_SEGMENT, CentreLine
from racer_env.tracks.names import other_meaning
from racer_env.tracks.readers.road import LEAST_SCALE, Reading, SourceRoad
from racer_env.tracks.track import FloatArray, Track

TOLERANCE = 0.5  # units; the spline leaves the line by no more, a quarter of the car's width
CHECKPOINTS = 30  # gates where the file does not say, as on the shipped tracks
FEWEST_POINTS, MORE_POINTS = 12, 1.15  # control points that are tried first, and how many times as many next
MOST_TRIES = 10  # of numbers of control points that follow the line: denser ones round the walls less, up to four times
MOST_OPEN = 2.0  # times the largest distance between neighbours: a larger gap between the ends is no closed road
REPEATED_SHARE = 0.01  # of the mean distance between neighbours: nearer points are the same
DIGITS = 3  # of a coordinate in a track file
SCALE_STEP, SCALE_STEPS = 1.25, 12  # a larger --scale is tried in such steps, up to 15 times the one that fails


class _WallsError(TrackError):
    """Walls of a road meet, which stand 30 units beyond it: a larger road may do."""


def make_track(road: SourceRoad, reading: Reading) -> tuple[Track, list[str]]:
    """Return the track of a road, and sentences on how it was made.

    Args:
        road: The road, with an id.
        reading: What its file does not say.

    Raises:
        TrackError: The road is open, crosses itself or cannot be driven; the message says where.
    """
    meaning = other_meaning(road.id or "")
    if meaning is not None:
        raise TrackError(
            f"{road.where}: no track can have the id {road.id!r}, as --track-id takes it for {meaning}; give it "
            "another --name"
        )
    try:
        return _make(road, reading, MOST_TRIES)
    except _WallsError as error:
        larger = _larger_scale(road, reading)
        enough = f"above {reading.scale:g}" if larger is None else f"of {larger:g}, which is enough"
        raise TrackError(f"{error}; or take a --scale {enough}, as walls stand 30 units beyond the road") from error


def _larger_scale(road: SourceRoad, reading: Reading) -> float | None:
    """Return a scale at which a road is a track, in steps from one at which it is none; None if none is found."""
    for step in range(1, SCALE_STEPS + 1):
        scale = float(f"{reading.scale * SCALE_STEP**step:.2g}")
        try:
            _make(road, replace(reading, scale=scale), 1)
        except _WallsError:
            continue
        except TrackError:
            return None
        return scale
    return None


def _make(road: SourceRoad, reading: Reading, tries: int) -> tuple[Track, list[str]]:
    """Return what ``make_track`` does, after at most so many ``tries`` of control points that follow a line."""
    points, half_widths, said = _scaled(road, reading)
    if len(points) < MIN_POINTS:
        raise TrackError(f"{road.where}: expected at least {MIN_POINTS} different points, got {len(points)}")
    length = float(np.hypot(*(np.roll(points, -1, axis=0) - points).T).sum())
    if length > MAX_LENGTH:
        raise TrackError(
            f"{road.where}: the road is {length:,.0f} units long; the most is {MAX_LENGTH:,.0f}, so "
            + _smaller_scale(MAX_LENGTH / length * reading.scale)
        )
    if not road.is_line:
        return _track(road, points, half_widths), said
    _refuse_open(road, points, reading)
    track, deviation = _follow(road, CentreLine(points, half_widths), tries)
    said.append(
        f"{len(points):,} points became {len(track.points):,} control points, whose line is at most "
        f"{deviation:.2f} units away"
    )
    return track, said


def _smaller_scale(most: float) -> str:
    """Return what to do about a road that is short enough up to a scale."""
    step = 10.0 ** (math.floor(math.log10(most)) - 2)  # three digits, rounded down
    most = math.floor(most / step) * step
    if most < LEAST_SCALE:
        return f"no --scale is small enough, from {LEAST_SCALE:g} on; is the file's road one line round a circuit?"
    return f"take a --scale of {most:.3g} at most"


def _scaled(road: SourceRoad, reading: Reading) -> tuple[FloatArray, FloatArray, list[str]]:
    """Return points and half-widths in units, without repeated points, the line in the middle of its edges."""
    said, points = [], road.points * reading.scale
    if reading.half_width is not None or road.left is None or road.right is None:
        left = right = np.full(len(points), reading.half_width or 0.0)
    else:
        left, right = road.left * reading.scale, road.right * reading.scale
    steps = np.hypot(*(np.roll(points, -1, axis=0) - points).T)
    kept = steps > REPEATED_SHARE * steps.mean()  # of equal neighbours the later one; the last one is the first one's
    if road.is_line or not kept[-1]:
        kept[:-1] |= not road.is_line
        if not kept.all():
            said.append(f"points that repeat the one after them were left out: {np.count_nonzero(~kept)}")
        points, left, right = points[kept], left[kept], right[kept]
    if len(points) >= MIN_POINTS and not np.array_equal(left, right):
        line = CentreLine(points, left)
        tangent = line.unit_tangent_at(line.point_lengths)
        aside = (left - right)[:, None] / 2 * np.stack([-tangent[:, 1], tangent[:, 0]], axis=1)
        points = points + aside
        moved = float(np.hypot(*aside.T).max())
        said.append(f"the centre line was moved to the middle of the edges, by up to {moved:.2f} units")
    return points, (left + right) / 2, said


def _refuse_open(road: SourceRoad, points: FloatArray, reading: Reading) -> None:
    steps = np.hypot(*np.diff(points, axis=0).T)
    gap = float(np.hypot(*(points[-1] - points[0])))
    if gap > MOST_OPEN * steps.max():
        raise TrackError(
            f"{road.where}: the road is open: {gap / reading.scale:,.4g} between its last and its first point, where "
            f"others are at most {steps.max() / reading.scale:,.4g} apart; a track is a loop"
        )


def _refuse_crossing(road: SourceRoad, line: CentreLine) -> None:
    shape = line.point_at(np.arange(0.0, line.total_length, max(1.0, line.total_length / 4_000)))
    crossing = first_crossing(np.concatenate([shape, shape[:1]]))
    if crossing is not None:
        x, y = crossing
        raise TrackError(f"{road.where}: the road crosses itself near ({x:.0f}, {y:.0f}), which no track may")


def _follow(road: SourceRoad, line: CentreLine, tries: int) -> tuple[Track, float]:
    """Return the drivable track of the fewest control points that follow a line, and how far it is from it."""
    _refuse_crossing(road, line)
    count, deviation, refusals = FEWEST_POINTS, math.inf, list[TrackError]()
    while count <= MAX_POINTS and len(refusals) < tries:
        at = np.arange(count) * line.total_length / count
        points, half_widths = line.point_at(at).round(DIGITS), line.half_width_at(at).round(DIGITS)
        deviation = _deviation(line, CentreLine(points, half_widths))
        if deviation <= TOLERANCE:
            try:
                return _track(road, points, half_widths), deviation
            except TrackError as error:
                refusals.append(error)
        count = math.ceil(count * MORE_POINTS)
    if refusals:
        raise refusals[0]
    raise TrackError(
        f"{road.where}: {MAX_POINTS:,} control points leave the line by {deviation:.1f} units; round its "
        "sharpest corner"
    )


def _deviation(line: CentreLine, spline: CentreLine) -> float:
    """Return how far a line is from a spline whose control points lie evenly along it, at most."""
    count = len(spline.point_lengths)
    share = np.arange(count * CHORDS_PER_SEGMENT) / CHORDS_PER_SEGMENT
    samples = line.point_at(share * line.total_length / count).reshape(count, CHORDS_PER_SEGMENT, 1, 2)
    chords = spline.chords.reshape(count, 1, CHORDS_PER_SEGMENT, 2)
    starts = spline.chord_ends.reshape(count, 1, CHORDS_PER_SEGMENT, 2) - chords
    squares = np.maximum((chords**2).sum(axis=3), 1e-12)
    along = np.clip(((samples - starts) * chords).sum(axis=3) / squares, 0.0, 1.0)
    distances = np.linalg.norm(samples - starts - along[..., None] * chords, axis=3)
    return float(distances.min(axis=2).max())


def _track(road: SourceRoad, points: FloatArray, half_widths: FloatArray) -> Track:
    document: dict[str, Any] = {
        "id": road.id,
        "name": road.name or road.id,
        "checkpointCount": CHECKPOINTS if road.checkpoint_count is None else road.checkpoint_count,
        "controlPoints": _control_points(points, half_widths),
    }
    try:
        return parse_track(document, road.where)
    except TrackError as error:
        if "cross" in str(error):
            _refuse_crossing(road, CentreLine(points, half_widths))
        if "wall" not in str(error) and "gate" not in str(error):
            raise
        raise _WallsError(str(error)) from error


def _control_points(points: FloatArray, half_widths: FloatArray) -> Sequence[dict[str, float]]:
    return [
        {"x": float(x), "y": float(y), "halfWidth": float(half)}
        for (x, y), half in zip(points, half_widths, strict=True)
    ]
