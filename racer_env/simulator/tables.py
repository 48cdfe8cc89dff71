"""Look-up tables that make the kernels fast without changing a result.

Two uniform grids cover a track, clamped at the border, where cells list everything:

* A cell of the *wall grid* holds a clearance, a distance within which no wall is from any of its points; or,
  near a wall, the number of a list of the wall segments within ``LIST_REACH`` of any of its points.
* A cell of the *sample grid* lists the samples of the centre line that can be nearest to a point inside it.

Both are conservative: a clearance may be too small and a list too long, never the reverse.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from racer_env.simulator.geometry import CHORDS_PER_SEGMENT, MIN_CHORD, TrackGeometry

WALL_CELL = 4.0  # units; side of a cell of the wall grid
SAMPLE_CELL = 16.0  # units; side of a cell of the sample grid
NEAR_WALL = 3  # units; a cell with less clearance has a list
LIST_REACH = 12.0  # units
MAX_CLEARANCE = 255  # units
MAX_LISTS = 32767  # per track
SAFETY = 1e-6  # units; far above rounding, far below anything that costs time
MAX_GAP = 3  # indices; stretches this near to each other become one
MIN_COARSE_SAMPLES = 100
COARSE_SPACING = 2.0  # units between the samples of the coarse nearest-point search

TRACK_DTYPE = np.dtype(
    [
        ("total_length", np.float64),
        ("progress_weight", np.float64),  # reward for one lap of progress
        ("sample_spacing", np.float64),  # arc length between coarse samples
        ("grid_x", np.float64),  # lower left corner of both grids
        ("grid_y", np.float64),
        ("wall_columns", np.int64),
        ("wall_rows", np.int64),
        ("sample_columns", np.int64),
        ("sample_rows", np.int64),
        ("first_wall_cell", np.int64),  # where this track's part begins in each table
        ("first_wall_list", np.int64),
        ("first_sample_cell", np.int64),
        ("first_segment", np.int64),
        ("first_chord", np.int64),
        ("first_sample", np.int64),
        ("sample_count", np.int64),
        ("first_gate", np.int64),
        ("gate_count", np.int64),
    ],
    align=True,
)
SEGMENT_DTYPE = np.dtype(
    [(name, np.float64) for name in ("x3", "x2", "x1", "x0", "y3", "y2", "y1", "y0")]  # cubic in t
    + [("start_length", np.float64), ("half_width", np.float64), ("half_width_slope", np.float64)],
    align=True,
)
CHORD_DTYPE = np.dtype([("length", np.float64), ("rate", np.float64)], align=True)  # arc length, dt / d(length)
GATE_DTYPE = np.dtype(
    [(name, np.float64) for name in ("left_x", "left_y", "right_x", "right_y", "direction_x", "direction_y")],
    align=True,
)


class Tables(NamedTuple):
    """The tables of one or more tracks, concatenated; every index in them counts from the array's begin."""

    tracks: npt.NDArray[np.void]
    segments: npt.NDArray[np.void]
    chords: npt.NDArray[np.void]
    samples: npt.NDArray[np.float64]  # (C, 2) coarse samples of the centre line
    sample_chords: npt.NDArray[np.int32]  # (C,) the chord that holds each sample
    walls: npt.NDArray[np.float64]  # (W, 2) points, the walls parted by a NaN; segment j runs from point j to j + 1
    wall_cells: npt.NDArray[np.int16]  # row by row; > 0 a clearance in units, <= 0 minus the number of a list
    wall_lists: npt.NDArray[np.int32]  # where in wall_ranges each list begins; it ends where the next begins
    wall_ranges: npt.NDArray[np.int32]  # (R, 2) first and past-the-last wall segment
    sample_cells: npt.NDArray[np.int32]  # row by row; where in sample_ranges each cell's begin
    sample_ranges: npt.NDArray[np.int32]  # (Q, 2) first and past-the-last sample
    gates: npt.NDArray[np.void]


def build_tables(geometry: TrackGeometry) -> Tables:
    """Build the tables of one track."""
    line = geometry.centre_line
    count = max(MIN_COARSE_SAMPLES, math.ceil(line.total_length / COARSE_SPACING))
    arc_length = np.arange(count) * line.total_length / count
    samples = line.point_at(arc_length)
    walls = np.concatenate([geometry.inner_wall, [[np.nan, np.nan]], geometry.outer_wall])
    low = np.floor(geometry.outer_wall.min(axis=0) / SAMPLE_CELL - 1) * SAMPLE_CELL
    columns, rows = (int(n) for n in np.ceil((geometry.outer_wall.max(axis=0) - low) / SAMPLE_CELL) + 1)
    per_cell = int(SAMPLE_CELL / WALL_CELL)
    wall_cells, wall_lists, wall_ranges = _wall_grid(
        walls, float(low[0]), float(low[1]), columns * per_cell, rows * per_cell
    )
    sample_cells, sample_ranges = _sample_grid(
        samples, float(low[0]), float(low[1]), columns, rows, _farthest(geometry)
    )

    track = np.zeros(1, TRACK_DTYPE)
    track["total_length"] = line.total_length
    track["progress_weight"] = 1.0
    track["sample_spacing"] = line.total_length / count
    track["grid_x"], track["grid_y"] = low
    track["wall_columns"], track["wall_rows"] = columns * per_cell, rows * per_cell
    track["sample_columns"], track["sample_rows"] = columns, rows
    track["sample_count"] = count
    track["gate_count"] = len(geometry.gates.arc_length)
    return Tables(
        tracks=track,
        segments=_segments(geometry),
        chords=_chords(geometry),
        samples=samples,
        sample_chords=(np.searchsorted(line.lengths, arc_length, side="right") - 1).astype(np.int32),
        walls=walls,
        wall_cells=wall_cells,
        wall_lists=wall_lists,
        wall_ranges=wall_ranges,
        sample_cells=sample_cells,
        sample_ranges=sample_ranges,
        gates=_gates(geometry),
    )


def concatenate_tables(parts: Sequence[Tables]) -> Tables:
    """Put the tables of several tracks one behind the other and shift their indices."""
    columns = {name: [getattr(part, name) for part in parts] for name in Tables._fields}
    firsts = {name: _firsts(arrays) for name, arrays in columns.items()}
    joined = {name: np.concatenate(arrays) for name, arrays in columns.items()}
    for field, name in _FIRST_FIELDS.items():
        joined["tracks"][field] = firsts[name]
    for name, target in _INDEX_TABLES.items():
        joined[name] = _shifted(columns[name], firsts[target])
    return Tables(**joined)


# Which table each first_... field of a track counts in, and which table each table of indices points into.
_FIRST_FIELDS = {
    "first_segment": "segments",
    "first_chord": "chords",
    "first_sample": "samples",
    "first_wall_cell": "wall_cells",
    "first_wall_list": "wall_lists",
    "first_sample_cell": "sample_cells",
    "first_gate": "gates",
}
_INDEX_TABLES = {
    "sample_chords": "chords",
    "wall_lists": "wall_ranges",
    "wall_ranges": "walls",
    "sample_cells": "sample_ranges",
    "sample_ranges": "samples",
}


def _firsts(arrays: Sequence[npt.NDArray[np.generic]]) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum([len(array) for array in arrays])[:-1]]).astype(np.int64)


def _shifted(arrays: Sequence[npt.NDArray[np.int32]], shifts: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    return np.concatenate([array + np.int32(shift) for array, shift in zip(arrays, shifts, strict=True)])


def _farthest(geometry: TrackGeometry) -> float:
    """Return a bound on a car's distance from the centre line: a wall point's from the centre it was built at."""
    line = geometry.centre_line
    samples = len(geometry.inner_wall) - 1
    centre = line.point_at(np.arange(samples) * line.total_length / samples)
    gaps = [np.linalg.norm(wall[:-1] - centre, axis=1) for wall in (geometry.inner_wall, geometry.outer_wall)]
    return float(np.max(gaps)) + SAMPLE_CELL


def _segments(geometry: TrackGeometry) -> npt.NDArray[np.void]:
    line = geometry.centre_line
    segments = np.zeros(len(line.coefficients), SEGMENT_DTYPE)
    for axis, name in enumerate("xy"):
        for power in range(4):
            segments[f"{name}{power}"] = line.coefficients[:, 3 - power, axis]
    segments["start_length"] = line.point_lengths
    segments["half_width"] = line.half_widths
    spans = np.diff(np.append(line.point_lengths, line.total_length))
    rises = np.roll(line.half_widths, -1) - line.half_widths
    segments["half_width_slope"] = rises / np.where(spans > 0, spans, 1.0)
    return segments


def _chords(geometry: TrackGeometry) -> npt.NDArray[np.void]:
    lengths = geometry.centre_line.lengths
    chords = np.zeros(len(lengths), CHORD_DTYPE)
    chords["length"] = lengths
    spans = np.diff(lengths)
    chords["rate"][:-1] = np.where(spans < MIN_CHORD, 0.0, 1 / CHORDS_PER_SEGMENT / np.maximum(spans, MIN_CHORD))
    return chords


def _gates(geometry: TrackGeometry) -> npt.NDArray[np.void]:
    gates = np.zeros(len(geometry.gates.arc_length), GATE_DTYPE)
    for name in ("left", "right", "direction"):
        gates[f"{name}_x"], gates[f"{name}_y"] = getattr(geometry.gates, name).T
    return gates


@njit(cache=True, error_model="numpy")
def _segment_distance_squared(points, j, x, y):  # type: ignore[no-untyped-def]
    """Return the squared distance of (x, y) from the segment j to j + 1; infinite where a point is no number."""
    ex, ey = points[j + 1, 0] - points[j, 0], points[j + 1, 1] - points[j, 1]
    if math.isnan(ex):
        return np.inf
    ox, oy = x - points[j, 0], y - points[j, 1]
    squared = ex * ex + ey * ey
    share = 0.0 if squared == 0.0 else min(max((ox * ex + oy * ey) / squared, 0.0), 1.0)
    dx, dy = ox - share * ex, oy - share * ey
    return dx * dx + dy * dy


@njit(cache=True, error_model="numpy")
def _wall_grid(points, grid_x, grid_y, columns, rows):  # type: ignore[no-untyped-def]
    """Build the wall grid.

    Returns:
        wall_cells (columns * rows,), wall_lists (lists + 1,) and wall_ranges (R, 2) of one track.
    """
    cells = np.zeros(columns * rows, np.int16)
    ranges = [(0, len(points) - 1)]
    lists = [0, 1]  # list 0 holds every wall
    half_diagonal = WALL_CELL * math.sqrt(0.5)
    patch = 8  # cells; their common candidates spare most of the work
    squared = np.full(len(points), np.inf)
    for first_row in range(0, rows, patch):
        for first_column in range(0, columns, patch):
            x, y = grid_x + (first_column + patch / 2) * WALL_CELL, grid_y + (first_row + patch / 2) * WALL_CELL
            for j in range(len(points) - 1):
                squared[j] = _segment_distance_squared(points, j, x, y)
            reach = math.sqrt(squared.min()) + 2 * patch * half_diagonal + LIST_REACH + 1.0
            candidates = np.flatnonzero(squared <= reach * reach)
            for row in range(max(first_row, 1), min(first_row + patch, rows - 1)):
                for column in range(max(first_column, 1), min(first_column + patch, columns - 1)):
                    x, y = grid_x + (column + 0.5) * WALL_CELL, grid_y + (row + 0.5) * WALL_CELL
                    nearest = np.inf
                    for j in candidates:
                        squared[j] = _segment_distance_squared(points, j, x, y)
                        nearest = min(nearest, squared[j])
                    clearance = math.floor(math.sqrt(nearest) - half_diagonal - SAFETY)
                    if clearance >= NEAR_WALL:
                        cells[row * columns + column] = min(clearance, MAX_CLEARANCE)
                        continue
                    _append_ranges(ranges, candidates, squared, (half_diagonal + LIST_REACH + SAFETY) ** 2)
                    cells[row * columns + column] = -(len(lists) - 1)
                    lists.append(len(ranges))
    return cells, np.array(lists, np.int32), np.array(ranges, np.int32)


@njit(cache=True, error_model="numpy")
def _sample_grid(samples, grid_x, grid_y, columns, rows, reach):  # type: ignore[no-untyped-def]
    """Build the sample grid.

    A sample is left out when another one is nearer to all four corners, hence to every point of the cell.
    Cells farther than ``reach`` from the line, where no car should be, list everything.

    Returns:
        sample_cells (columns * rows + 1,) and sample_ranges (Q, 2) of one track.
    """
    half_diagonal = SAMPLE_CELL * math.sqrt(0.5)
    cells = np.zeros(columns * rows + 1, np.int32)
    ranges = [(0, 0) for _ in range(0)]
    corners = np.empty((4, 2))
    rivals = np.empty(4, np.int64)
    squared = np.empty(len(samples))
    for cell in range(columns * rows):
        column, row = cell % columns, cell // columns
        x, y = grid_x + (column + 0.5) * SAMPLE_CELL, grid_y + (row + 0.5) * SAMPLE_CELL
        for j in range(len(samples)):
            squared[j] = _distance_squared(samples, j, x, y)
        nearest = math.sqrt(squared.min())
        limit = (nearest + 2 * half_diagonal + SAFETY) ** 2
        if nearest > reach or row == 0 or row == rows - 1 or column == 0 or column == columns - 1:
            limit = np.inf
        candidates = np.flatnonzero(squared <= limit)
        if limit < np.inf:
            for corner in range(4):
                corners[corner, 0] = x + SAMPLE_CELL * ((corner % 2) - 0.5)
                corners[corner, 1] = y + SAMPLE_CELL * ((corner // 2) - 0.5)
                least = np.inf
                for j in candidates:
                    distance = _distance_squared(samples, j, corners[corner, 0], corners[corner, 1])
                    if distance < least:
                        least = distance
                        rivals[corner] = j
            for j in candidates:
                for rival in rivals:
                    if _is_farther_everywhere(samples, j, rival, corners):
                        squared[j] = np.inf
                        break
        _append_ranges(ranges, candidates, squared, limit)
        cells[cell + 1] = len(ranges)
    return cells, np.array(ranges, np.int32)


@njit(cache=True, error_model="numpy")
def _distance_squared(points, j, x, y):  # type: ignore[no-untyped-def]
    return (points[j, 0] - x) ** 2 + (points[j, 1] - y) ** 2


@njit(cache=True, error_model="numpy")
def _is_farther_everywhere(samples, j, rival, corners):  # type: ignore[no-untyped-def]
    for corner in range(len(corners)):
        x, y = corners[corner]
        if _distance_squared(samples, j, x, y) <= _distance_squared(samples, rival, x, y) + SAFETY:
            return False
    return True


@njit(cache=True, error_model="numpy")
def _append_ranges(ranges, candidates, squared, limit):  # type: ignore[no-untyped-def]
    """Append the stretches of the ascending candidates whose squared distance is in the limit; close small gaps."""
    begin, end = -1, -1
    for j in candidates:
        if squared[j] > limit:
            continue
        if begin >= 0 and j - end > MAX_GAP:
            ranges.append((begin, end))
            begin = -1
        if begin < 0:
            begin = j
        end = j + 1
    if begin >= 0:
        ranges.append((begin, end))
