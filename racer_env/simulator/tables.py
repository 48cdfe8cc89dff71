"""Look-up tables that make the kernels fast without changing a result.

Each track is covered by a uniform grid. A cell knows which stretches of the walls and of the centre line
can matter to a point inside it, and how far a ray from such a point travels before it can meet a wall that
the cell does not list. All lists are conservative: they may hold too much, never too little.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from racer_env.simulator.geometry import CHORDS_PER_SEGMENT, MIN_CHORD, TrackGeometry

CELL_SIZE = 8.0  # units
HALF_DIAGONAL = CELL_SIZE * math.sqrt(0.5)
WALL_REACH = 6.0  # units; a cell lists the walls within this distance of any of its points
SAFETY = 1e-6  # units; far above rounding, far below anything that costs time
MAX_GAP = 3  # indices; stretches this near to each other become one
MIN_COARSE_SAMPLES = 100
COARSE_SPACING = 2.0  # units between the samples of the coarse nearest-point search

TRACK_DTYPE = np.dtype(
    [
        ("total_length", np.float64),
        ("progress_weight", np.float64),  # reward for one lap of progress
        ("sample_spacing", np.float64),  # arc length between coarse samples
        ("grid_x", np.float64),  # lower left corner of the grid
        ("grid_y", np.float64),
        ("columns", np.int64),
        ("rows", np.int64),
        ("first_cell", np.int64),  # where this track's rows begin in each table
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
CELL_DTYPE = np.dtype(
    [
        ("stride", np.float32),  # distance a ray may travel from this cell after testing the listed walls
        ("first_wall_range", np.int32),  # the list ends where the next cell's begins
        ("first_sample_range", np.int32),
    ],
    align=True,
)
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
    walls: npt.NDArray[np.float64]  # (W, 2) points; wall segment j runs from point j to j + 1
    cells: npt.NDArray[np.void]
    wall_ranges: npt.NDArray[np.int32]  # (R, 2) first and past-the-last wall segment
    sample_ranges: npt.NDArray[np.int32]  # (Q, 2) likewise of the coarse samples
    gates: npt.NDArray[np.void]


def build_tables(geometry: TrackGeometry) -> Tables:
    """Build the tables of one track."""
    line = geometry.centre_line
    count = max(MIN_COARSE_SAMPLES, math.ceil(line.total_length / COARSE_SPACING))
    arc_length = np.arange(count) * line.total_length / count
    samples = line.point_at(arc_length)
    walls = np.concatenate([geometry.inner_wall, geometry.outer_wall])
    wall_count = len(geometry.inner_wall)
    low = np.floor(walls.min(axis=0) / CELL_SIZE - 1) * CELL_SIZE
    columns, rows = (np.ceil((walls.max(axis=0) - low) / CELL_SIZE) + 1).astype(int)

    stride, wall_counts, wall_ranges = _list_walls(walls, wall_count, low[0], low[1], columns, rows)
    reach = float(line.half_widths.max()) + np.abs(walls).max() * 1e-12 + _farthest(geometry)
    sample_counts, sample_ranges = _list_samples(samples, low[0], low[1], columns, rows, reach)

    cells = np.zeros(columns * rows + 2, CELL_DTYPE)  # the last but one is everywhere else, the last ends its list
    cells["stride"][:-1] = stride
    cells["first_wall_range"][1:] = np.cumsum(wall_counts)
    cells["first_sample_range"][1:] = np.cumsum(sample_counts)

    track = np.zeros(1, TRACK_DTYPE)
    track["total_length"] = line.total_length
    track["progress_weight"] = 1.0
    track["sample_spacing"] = line.total_length / count
    track["grid_x"], track["grid_y"] = low
    track["columns"], track["rows"] = columns, rows
    track["sample_count"] = count
    track["gate_count"] = len(geometry.gates.arc_length)
    chords = _chords(geometry)
    return Tables(
        tracks=track,
        segments=_segments(geometry),
        chords=chords,
        samples=np.ascontiguousarray(samples),
        sample_chords=(np.searchsorted(line.lengths, arc_length, side="right") - 1).astype(np.int32),
        walls=walls,
        cells=cells,
        wall_ranges=wall_ranges,
        sample_ranges=sample_ranges,
        gates=_gates(geometry),
    )


def concatenate_tables(parts: Sequence[Tables]) -> Tables:
    """Put the tables of several tracks one behind the other and shift their indices."""
    tracks = np.concatenate([part.tracks for part in parts])
    firsts = {
        "first_segment": _firsts([part.segments for part in parts]),
        "first_chord": _firsts([part.chords for part in parts]),
        "first_sample": _firsts([part.samples for part in parts]),
        "first_cell": _firsts([part.cells for part in parts]),
        "first_gate": _firsts([part.gates for part in parts]),
    }
    for name, values in firsts.items():
        tracks[name] = values
    first_wall = _firsts([part.walls for part in parts])
    cells = np.concatenate([part.cells for part in parts])
    lengths = [len(part.cells) for part in parts]
    cells["first_wall_range"] += np.repeat(_firsts([part.wall_ranges for part in parts]), lengths).astype(np.int32)
    cells["first_sample_range"] += np.repeat(_firsts([part.sample_ranges for part in parts]), lengths).astype(np.int32)
    return Tables(
        tracks=tracks,
        segments=np.concatenate([part.segments for part in parts]),
        chords=np.concatenate([part.chords for part in parts]),
        samples=np.concatenate([part.samples for part in parts]),
        sample_chords=_shifted([part.sample_chords for part in parts], firsts["first_chord"]),
        walls=np.concatenate([part.walls for part in parts]),
        cells=cells,
        wall_ranges=_shifted([part.wall_ranges for part in parts], first_wall),
        sample_ranges=_shifted([part.sample_ranges for part in parts], firsts["first_sample"]),
        gates=np.concatenate([part.gates for part in parts]),
    )


def _firsts(arrays: Sequence[npt.NDArray[np.generic]]) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum([len(array) for array in arrays])[:-1]]).astype(np.int64)


def _shifted(arrays: Sequence[npt.NDArray[np.int32]], shifts: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    return np.concatenate([array + np.int32(shift) for array, shift in zip(arrays, shifts, strict=True)])


def _farthest(geometry: TrackGeometry) -> float:
    """Return a bound on how far beyond the half-width a car can be from the centre line."""
    line = geometry.centre_line
    samples = len(geometry.inner_wall) - 1
    centre = line.point_at(np.arange(samples) * line.total_length / samples)
    gaps = [np.abs(wall[:-1] - centre).max() for wall in (geometry.inner_wall, geometry.outer_wall)]
    return float(max(gaps)) + CELL_SIZE


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


@njit(cache=True)
def _segment_distance_squared(points, j, x, y):  # type: ignore[no-untyped-def]
    ex, ey = points[j + 1, 0] - points[j, 0], points[j + 1, 1] - points[j, 1]
    ox, oy = x - points[j, 0], y - points[j, 1]
    squared = ex * ex + ey * ey
    share = 0.0 if squared == 0.0 else min(max((ox * ex + oy * ey) / squared, 0.0), 1.0)
    dx, dy = ox - share * ex, oy - share * ey
    return dx * dx + dy * dy


@njit(cache=True)
def _list_walls(points, inner_count, grid_x, grid_y, columns, rows):  # type: ignore[no-untyped-def]
    """List per cell the wall segments within WALL_REACH of it.

    Returns:
        The strides (cells + 1,), the number of ranges per cell (cells + 1,), and the ranges (R, 2).
    """
    cells = columns * rows
    stride = np.empty(cells + 1, np.float32)
    counts = np.zeros(cells + 1, np.int64)
    ranges = [(0, 0) for _ in range(0)]
    squared = np.empty(len(points))
    for cell in range(cells):
        x = grid_x + (cell % columns + 0.5) * CELL_SIZE
        y = grid_y + (cell // columns + 0.5) * CELL_SIZE
        nearest = np.inf
        for j in range(len(points) - 1):
            squared[j] = np.inf if j == inner_count - 1 else _segment_distance_squared(points, j, x, y)
            nearest = min(nearest, squared[j])
        clearance = math.sqrt(nearest) - HALF_DIAGONAL - SAFETY
        if clearance >= WALL_REACH:
            stride[cell] = clearance * (1.0 - 1e-6)  # rounding to single precision must not lengthen it
            continue
        stride[cell] = WALL_REACH
        limit = (HALF_DIAGONAL + WALL_REACH + 2 * SAFETY) ** 2
        for first, stop in ((0, inner_count - 1), (inner_count, len(points) - 1)):
            counts[cell] += _append_ranges(ranges, squared <= limit, first, stop)
    stride[cells] = np.inf
    counts[cells] = 2
    ranges.append((0, inner_count - 1))
    ranges.append((inner_count, len(points) - 1))
    return stride, counts, np.array(ranges, np.int32)


@njit(cache=True)
def _list_samples(samples, grid_x, grid_y, columns, rows, reach):  # type: ignore[no-untyped-def]
    """List per cell the coarse samples that are nearest to any of its points.

    A sample is left out when another one is nearer to all four corners, hence to every point of the cell.
    Cells farther than ``reach`` from the line, where no car can be, list everything.

    Returns:
        The number of ranges per cell (cells + 1,), and the ranges (Q, 2).
    """
    cells = columns * rows
    counts = np.ones(cells + 1, np.int64)
    ranges = [(0, 0) for _ in range(0)]
    corners = np.empty((4, 2))
    rivals = np.empty(4, np.int64)
    squared = np.empty(len(samples))
    for cell in range(cells):
        x = grid_x + (cell % columns + 0.5) * CELL_SIZE
        y = grid_y + (cell // columns + 0.5) * CELL_SIZE
        for j in range(len(samples)):
            squared[j] = (samples[j, 0] - x) ** 2 + (samples[j, 1] - y) ** 2
        nearest = math.sqrt(squared.min())
        if nearest > reach:
            ranges.append((0, len(samples)))
            continue
        possible = squared <= (nearest + 2 * HALF_DIAGONAL + SAFETY) ** 2
        for corner in range(4):
            corners[corner, 0] = x + CELL_SIZE * ((corner % 2) - 0.5)
            corners[corner, 1] = y + CELL_SIZE * ((corner // 2) - 0.5)
            least = np.inf
            for j in np.flatnonzero(possible):
                d = (samples[j, 0] - corners[corner, 0]) ** 2 + (samples[j, 1] - corners[corner, 1]) ** 2
                if d < least:
                    least = d
                    rivals[corner] = j
        for j in np.flatnonzero(possible):
            for rival in rivals:
                beaten = True
                for corner in range(4):
                    mine = (samples[j, 0] - corners[corner, 0]) ** 2 + (samples[j, 1] - corners[corner, 1]) ** 2
                    other = (samples[rival, 0] - corners[corner, 0]) ** 2 + (samples[rival, 1] - corners[corner, 1]) ** 2
                    if mine <= other + SAFETY:
                        beaten = False
                if beaten:
                    possible[j] = False
                    break
        counts[cell] = _append_ranges(ranges, possible, 0, len(samples))
    ranges.append((0, len(samples)))
    return counts, np.array(ranges, np.int32)


@njit(cache=True)
def _append_ranges(ranges, wanted, first, stop):  # type: ignore[no-untyped-def]
    """Append the stretches of ``wanted`` in [first, stop) and return how many; small gaps are closed."""
    count = 0
    begin, end = -1, -1
    for j in range(first, stop):
        if not wanted[j]:
            continue
        if begin >= 0 and j - end > MAX_GAP:
            ranges.append((begin, end))
            count += 1
            begin = -1
        if begin < 0:
            begin = j
        end = j + 1
    if begin >= 0:
        ranges.append((begin, end))
        count += 1
    return count
