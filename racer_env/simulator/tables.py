"""Look-up tables that make the kernels fast without changing any result.

A uniform grid covers a track; positions outside it belong to the nearest cell. Each cell holds

* the wall segments within ``CONTACT_REACH`` of any of its points,
* the centre-line samples that can be nearest to a point inside it,
* a *view* for each bin of directions: the wall segments that a ray from any of its points can meet first, in blocks
  of ``BLOCK`` neighbours, the nearest block first.

Cells at the border, and others that no car can reach, list everything.

All lists are conservative: they may be too long, never too short.
"""

import itertools
import math
import os
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from racer_env import fdlibm
from racer_env.contract import (
    BRAKE,
    OBSERVED_ARC_LENGTH,
    OBSERVED_CENTRE_DISTANCE,
    OBSERVED_SPEED,
    OBSERVED_STEER,
    OBSERVED_YAW_RATE,
    RAY_COUNT,
    STEER,
    THROTTLE,
    TICKS_PER_SECOND,
)
from racer_env.simulator import compiled_fdlibm, vectors
from racer_env.simulator.table_kernels import (
    BEGIN_BITS,
    BEGIN_UNIT,
    BLOCK,
    CELL,
    NEAR_STEP,
    SAFETY,
    VIEW_DIRECTIONS,
    needed_samples,
    view_blocks,
)
from racer_env.tracks.geometry import FloatArray, TrackGeometry

CONTACT_REACH = 4.0  # units; more than any contact distance, and than a car moves in a tick
END = 2**16 - 1  # marks the end of a list of blocks; as a block, it would be farther than any ray
MAX_BLOCKS = 2**16  # per track
CACHE_LINE = 64  # bytes
EVERYTHING = 0  # number of the cells that list everything
MAX_LISTED = 2**16  # cells with their own lists, and ranges, per track
MAX_GAP = 3  # indices; ranges with a smaller or equal gap are merged
MIN_COARSE_SAMPLES = 100
COARSE_SPACING = 2.0  # units between the samples of the coarse nearest-point search

# Numba's kernel cache notices changed types but not changes in other files. Therefore a change of what the kernels read
# from this file and from the contract renames a type, and so does one of the functions that they call from elsewhere.
_READ_BY_KERNELS = (
    *(CELL, CONTACT_REACH, SAFETY, VIEW_DIRECTIONS, BLOCK, NEAR_STEP, BEGIN_BITS, BEGIN_UNIT, RAY_COUNT),
    *(OBSERVED_SPEED, OBSERVED_YAW_RATE, OBSERVED_STEER, OBSERVED_ARC_LENGTH, OBSERVED_CENTRE_DISTANCE),
    *(STEER, THROTTLE, BRAKE, TICKS_PER_SECOND),
)
_CALLED_BY_KERNELS = b"".join(Path(str(module.__file__)).read_bytes() for module in (fdlibm, compiled_fdlibm, vectors))
_LAYOUT = "layout_" + "_".join(f"{n:g}" for n in _READ_BY_KERNELS) + f"_{zlib.crc32(_CALLED_BY_KERNELS):x}"
TRACK_DTYPE = np.dtype(
    [
        ("total_length", np.float64),
        ("progress_weight", np.float64),  # reward for one lap of progress
        ("sample_spacing", np.float64),  # arc length between coarse samples
        ("grid_x", np.float64),  # lower left corner
        ("grid_y", np.float64),
        ("columns", np.int64),  # cells of the grid
        ("rows", np.int64),
        ("first_cell", np.int64),  # first index of this track in each table
        ("first_near", np.int64),
        ("first_contact_range", np.int64),
        ("first_sample_range", np.int64),
        ("first_view", np.int64),
        ("first_block", np.int64),
        ("first_wall", np.uint32),  # unsigned, so the compiler knows that no index is negative
        ("wall_size", np.int64),  # segments of each wall
        ("first_segment", np.int64),
        ("first_chord", np.int64),
        ("first_sample", np.int64),
        ("sample_count", np.int64),
        ("first_gate", np.int64),
        ("gate_count", np.int64),
        (_LAYOUT, np.int64),  # not used
    ],
    align=True,
)
SEGMENT_DTYPE = np.dtype(
    [(name, np.float64) for name in ("x3", "x2", "x1", "x0", "y3", "y2", "y1", "y0")]  # cubic in t
    + [("start_length", np.float64), ("half_width", np.float64), ("half_width_slope", np.float64)],
    align=True,
)
NEAR_DTYPE = np.dtype([("contact", np.uint16), ("sample", np.uint16)], align=True)  # first range of each kind
GATE_DTYPE = np.dtype(
    [(name, np.float64) for name in ("left_x", "left_y", "right_x", "right_y", "direction_x", "direction_y")],
    align=True,
)


class Tables(NamedTuple):
    """The tables of one or more tracks, concatenated. Indices count from the start of the track's part of an array.

    A cell's number is its row in ``near``; times VIEW_DIRECTIONS, it is the index of its first view. The cell's ranges
    begin where that row says and end where those of the next row begin.
    """

    tracks: npt.NDArray[np.void]
    segments: npt.NDArray[np.void]
    chords: npt.NDArray[np.float64]  # arc length where each chord begins, then the total length
    sample_x: npt.NDArray[np.float64]  # coarse samples of the centre line; infinite ones follow, to read past the end
    sample_y: npt.NDArray[np.float64]
    sample_chords: npt.NDArray[np.uint16]  # the chord that holds each sample
    wall_x: npt.NDArray[np.float64]  # points, see _wall_points; segment j runs from point j to j + 1
    wall_y: npt.NDArray[np.float64]
    cells: npt.NDArray[np.uint16]  # number of each cell, row by row
    near: npt.NDArray[np.void]
    contact_ranges: npt.NDArray[np.uint16]  # (R, 2) first and past-the-last wall segment
    sample_ranges: npt.NDArray[np.uint16]  # (Q, 2) first and past-the-last sample
    views: npt.NDArray[np.uint16]  # where a view's blocks begin, nearest first
    blocks: npt.NDArray[np.uint16]  # distance, and first index in the walls, see BEGIN_BITS; END closes a view
    gates: npt.NDArray[np.void]


def build_tables(geometry: TrackGeometry) -> Tables:
    """Build the tables of one track."""
    line = geometry.centre_line
    count = max(MIN_COARSE_SAMPLES, math.ceil(line.total_length / COARSE_SPACING))
    arc_length = np.arange(count) * line.total_length / count
    samples = line.point_at(arc_length)
    wall_x, wall_y = _wall_points(geometry)
    low = np.floor(geometry.outer_wall.min(axis=0) / CELL - 1) * CELL
    columns, rows = (math.ceil(extent / CELL) + 1 for extent in geometry.outer_wall.max(axis=0) - low)
    cells, views, blocks = _views(wall_x, wall_y, float(low[0]), float(low[1]), columns, rows)
    near, contact_ranges, sample_ranges = _near(wall_x, wall_y, samples, low, cells, columns)
    cells[cells > len(near) - 2] = EVERYTHING
    beyond = np.full(BLOCK, np.inf)
    sample_chords = np.searchsorted(line.lengths, arc_length, side="right") - 1

    track = np.zeros(1, TRACK_DTYPE)
    track["total_length"] = line.total_length
    track["progress_weight"] = 1.0
    track["sample_spacing"] = line.total_length / count
    track["grid_x"], track["grid_y"] = low
    track["columns"], track["rows"] = columns, rows
    track["sample_count"] = count
    track["wall_size"] = len(geometry.inner_wall) - 1
    track["gate_count"] = len(geometry.gates.arc_length)
    return Tables(
        tracks=track,
        segments=_segments(geometry),
        chords=line.lengths,
        sample_x=np.concatenate([samples[:, 0], beyond]),
        sample_y=np.concatenate([samples[:, 1], beyond]),
        sample_chords=np.pad(sample_chords, (0, BLOCK)).astype(np.uint16),
        wall_x=wall_x,
        wall_y=wall_y,
        cells=cells.astype(np.uint16),
        near=near,
        contact_ranges=contact_ranges,
        sample_ranges=sample_ranges,
        views=views,
        blocks=blocks,
        gates=_gates(geometry),
    )


def build_all_tables(geometries: Sequence[TrackGeometry]) -> Tables:
    """Build the tables of several tracks on all cores, and concatenate them."""
    first = build_tables(geometries[0])  # compiles the code that the others then run in parallel
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return concatenate_tables([first, *pool.map(build_tables, geometries[1:])])


def concatenate_tables(parts: Sequence[Tables]) -> Tables:
    """Concatenate the tables of several tracks."""
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in Tables._fields}
    for field, name in _FIRST_FIELDS.items():
        joined["tracks"][field] = np.cumsum([0, *(len(getattr(part, name)) for part in parts[:-1])])
    return Tables(**_in_one_piece(joined))


def _in_one_piece(arrays: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Move arrays into one block of memory, each to the begin of a cache line.

    The system gives a large block large pages, which speeds up many tracks.
    """
    ends = np.cumsum([-(-array.nbytes // CACHE_LINE) * CACHE_LINE for array in arrays.values()])
    memory = np.empty(ends[-1] + CACHE_LINE, np.uint8)
    memory = memory[-memory.ctypes.data % CACHE_LINE :]
    pieces = {}
    for (name, array), offset in zip(arrays.items(), [0, *ends[:-1]], strict=True):
        pieces[name] = memory[offset : offset + array.nbytes].view(array.dtype).reshape(array.shape)
        pieces[name][...] = array
    return pieces


# The table that each first_... field of a track is an index into.
_FIRST_FIELDS = {
    "first_segment": "segments",
    "first_chord": "chords",
    "first_sample": "sample_x",
    "first_cell": "cells",
    "first_near": "near",
    "first_contact_range": "contact_ranges",
    "first_sample_range": "sample_ranges",
    "first_view": "views",
    "first_block": "blocks",
    "first_wall": "wall_x",
    "first_gate": "gates",
}


def _wall_points(geometry: TrackGeometry) -> tuple[FloatArray, FloatArray]:
    """Return the points of the inner and then the outer wall, each continued past its end by the length of a block."""
    x, y = np.concatenate([np.concatenate([w, w[1:BLOCK]]) for w in (geometry.inner_wall, geometry.outer_wall)]).T
    return x.copy(), y.copy()


def _near(
    wall_x: FloatArray,
    wall_y: FloatArray,
    samples: FloatArray,
    low: FloatArray,
    cells: npt.NDArray[np.int64],
    columns: int,
) -> tuple[npt.NDArray[np.void], npt.NDArray[np.uint16], npt.NDArray[np.uint16]]:
    """Build near, contact_ranges and sample_ranges of one track, for as many cells as can be stored."""
    listed = np.flatnonzero(cells)
    contacts = _near_segments(wall_x, wall_y, low, columns, len(cells) // columns)
    needed = needed_samples(samples, low[0], low[1], columns, listed)
    stop, walls = len(wall_x) // 2, len(wall_x) // 2 - BLOCK
    contact_begins, contact_ranges = _ranges(listed, contacts, [[0, walls], [stop, stop + walls]])
    sample_begins, sample_ranges = _ranges(listed, needed, [[0, len(samples)]])
    count = min(MAX_LISTED - 1, int(np.searchsorted(np.maximum(contact_begins, sample_begins), MAX_LISTED)))
    near = np.zeros(count + 1, NEAR_DTYPE)
    near["contact"], near["sample"] = [0, *contact_begins[:count]], [0, *sample_begins[:count]]
    return (
        near,
        contact_ranges[: near["contact"][-1]].astype(np.uint16),
        sample_ranges[: near["sample"][-1]].astype(np.uint16),
    )


def _near_segments(
    wall_x: FloatArray, wall_y: FloatArray, low: FloatArray, columns: int, rows: int
) -> npt.NDArray[np.int64]:
    """Return pairs (P, 2) of a cell's number and a wall segment that can be touched from the cell."""
    size = len(wall_x) // 2 - BLOCK
    segments = np.concatenate([np.arange(size), len(wall_x) // 2 + np.arange(size)])
    begins = np.stack([wall_x[segments], wall_y[segments]], axis=1)
    ends = np.stack([wall_x[segments + 1], wall_y[segments + 1]], axis=1)
    limit = CELL * math.sqrt(0.5) + CONTACT_REACH + SAFETY
    # All cells around the middle of each segment, as far as the longest segment can be touched from.
    middle = np.floor(((begins + ends) / 2 - low) / CELL).astype(np.int64)
    radius = math.ceil((np.linalg.norm(ends - begins, axis=1).max() / 2 + limit) / CELL) + 1
    around = np.arange(-radius, radius + 1)
    offsets = np.stack(np.meshgrid(around, around), axis=-1).reshape(-1, 2)
    cells = middle[:, None] + offsets
    distance = _distance_to_segments(low + (cells + 0.5) * CELL, begins[:, None], ends[:, None])
    inner = (cells > 0).all(axis=2) & (cells[..., 0] < columns - 1) & (cells[..., 1] < rows - 1)
    which, where = np.nonzero((distance <= limit) & inner)
    return np.stack([cells[which, where, 1] * columns + cells[which, where, 0], segments[which]], axis=1)


def _ranges(
    listed: npt.NDArray[np.int64], needed: npt.NDArray[np.int64], first: list[list[int]]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Merge what each cell needs into ranges, closing small gaps.

    Args:
        listed: (K,) cell numbers in ascending order; other cells need nothing.
        needed: (P, 2) pairs of a cell number and an index that the cell needs.
        first: Ranges that come before all others.

    Returns:
        (K + 1,) where the ranges of each cell begin, then where the last ones end; and the ranges (R, 2).
    """
    needed = needed[np.isin(needed[:, 0], listed)]
    cells, indices = needed[np.lexsort((needed[:, 1], needed[:, 0]))].T
    begins = np.flatnonzero((np.diff(cells, prepend=-1) != 0) | (np.diff(indices, prepend=-1) > MAX_GAP + 1))
    ends = np.append(begins[1:], len(indices)) - 1
    ranges = np.stack([indices[begins], indices[ends] + 1], axis=1)
    of_cells = len(first) + np.searchsorted(cells[begins], [*listed, np.iinfo(np.int64).max])
    return of_cells, np.concatenate([np.array(first), ranges])


def _distance_to_segments(points: FloatArray, begins: FloatArray, ends: FloatArray) -> FloatArray:
    """Return the distances of points (..., 2) from segments (..., 2)."""
    along = ends - begins
    squared = np.sum(along**2, axis=-1)
    share = np.clip(np.sum((points - begins) * along, axis=-1) / np.where(squared > 0, squared, 1.0), 0.0, 1.0)
    distance: FloatArray = np.linalg.norm(points - begins - share[..., None] * along, axis=-1)
    return distance


def _views(
    wall_x: FloatArray, wall_y: FloatArray, grid_x: float, grid_y: float, columns: int, rows: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint16], npt.NDArray[np.uint16]]:
    """Build cells, views and blocks of one track."""
    cells, listed, firsts = view_blocks(wall_x, wall_y, grid_x, grid_y, columns, rows)
    numbers = listed.tolist()
    lists = [tuple(numbers[first:stop]) for first, stop in itertools.pairwise(firsts.tolist())]
    # The first list holds every wall; it is used when no more lists can be stored.
    blocks, places = [*lists[0], END], {lists[0]: 0}
    # A list that is the end of another one shares its storage.
    ends = {view[k:] for view in set(lists[1:]) for k in range(1, len(view) + 1)}
    for view in lists[1:]:
        if view in places or view in ends:
            continue
        if len(blocks) + len(view) >= MAX_BLOCKS:
            places[view] = 0
            continue
        for k in range(len(view) + 1):
            places.setdefault(view[k:], len(blocks) + k)
        blocks.extend([*view, END])
    return cells, np.array([places.get(view, 0) for view in lists], np.uint16), np.array(blocks, np.uint16)


def _segments(geometry: TrackGeometry) -> npt.NDArray[np.void]:
    line = geometry.centre_line
    segments = np.zeros(len(line.coefficients), SEGMENT_DTYPE)
    for axis, name in enumerate("xy"):
        for power in range(4):
            segments[f"{name}{power}"] = line.coefficients[:, 3 - power, axis]
    segments["start_length"] = line.point_lengths
    segments["half_width"] = line.half_widths
    segments["half_width_slope"] = line.half_width_slopes
    return segments


def _gates(geometry: TrackGeometry) -> npt.NDArray[np.void]:
    gates = np.zeros(len(geometry.gates.arc_length), GATE_DTYPE)
    for name in ("left", "right", "direction"):
        gates[f"{name}_x"], gates[f"{name}_y"] = getattr(geometry.gates, name).T
    return gates
