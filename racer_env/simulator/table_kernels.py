"""What is compiled of building the tables, with all constants that it reads.

They share this file because Numba's cache notices a change only in the file of the function that is called from Python.
"""

import math

import numpy as np

from racer_env.simulator.compile_cache import cached_njit

CELL = 32.0  # units; side of a cell
VIEW_DIRECTIONS = 32  # of a full turn; a power of two
VIEW_DISTANCE = 200.0  # units; no ray reaches farther
BLOCK = 16  # wall segments that a ray is tested against at once
BLOCK_STEP = 8  # a block begins at a multiple of it, so that more lists of blocks are equal
NEAR_STEP = 64  # units to which a block's distance is rounded down, for the same reason
BEGIN_BITS = 13  # of a block's number; the bits above are its distance in NEAR_STEP
BEGIN_UNIT = 4  # wall points; a block's begin is stored in it, as both walls begin at a multiple of it
ANGLE_SAFETY = 1e-9  # radians, for the directions of a bin
SAFETY = 1e-6  # units; far above rounding, far below anything that costs time


@cached_njit(error_model="numpy", nogil=True)
def needed_samples(samples, low_x, low_y, columns, listed):
    """Return (P, 2) the number of a listed cell and of a sample that it needs.

    A sample is left out when another one is nearer to all four corners, hence to every point of the cell.
    """
    count, diagonal = len(samples), CELL * math.sqrt(2.0)
    needed = [(0, 0) for _ in range(0)]
    candidates = np.empty(count, np.int64)
    distances = np.empty(count)
    squared = np.empty((count, 4))
    rivals = np.empty(4, np.int64)
    for cell in listed:
        x, y = low_x + cell % columns * CELL, low_y + cell // columns * CELL
        nearest = np.inf
        for i in range(count):
            dx, dy = samples[i, 0] - (x + CELL / 2), samples[i, 1] - (y + CELL / 2)
            distances[i] = dx * dx + dy * dy
            nearest = min(nearest, distances[i])
        limit, found = math.sqrt(nearest) + diagonal + SAFETY, 0
        for i in range(count):
            if distances[i] <= limit * limit:
                candidates[found] = i
                for corner in range(4):
                    dx = samples[i, 0] - (x + (corner % 2) * CELL)
                    dy = samples[i, 1] - (y + (corner // 2) * CELL)
                    squared[found, corner] = dx * dx + dy * dy
                found += 1
        # The sample nearest to a corner rules out those that are farther than it from all four.
        for corner in range(4):
            rivals[corner] = np.argmin(squared[:found, corner])
        for k in range(found):
            is_needed = True
            for rival in rivals:
                is_nearer = False
                for corner in range(4):
                    is_nearer |= squared[k, corner] <= squared[rival, corner] + SAFETY
                is_needed &= is_nearer
            if is_needed:
                needed.append((cell, candidates[k]))
    return np.array(needed, np.int64)


# A beam is what can be seen from a cell in the directions of one bin: the points within four half planes. The
# first two are its left and its right side, the others the cell's own borders at the back.
LEFT, RIGHT = 0, 1
NEITHER = -1


@cached_njit(error_model="numpy")
def _set_beam(beam, x, y, bin_number):
    """Set a beam, a little too wide.

    Args:
        beam: (5, 3), written: a, b and c of each half plane a x + b y <= c; at last those of the half plane
            before the cell, where a and b are the bin's middle direction.
        x, y: Lower left corner of the cell.
        bin_number: Which of the VIEW_DIRECTIONS.
    """
    low = bin_number * (2 * math.pi / VIEW_DIRECTIONS) - ANGLE_SAFETY
    high = (bin_number + 1) * (2 * math.pi / VIEW_DIRECTIONS) + ANGLE_SAFETY
    middle_x, middle_y = math.cos((low + high) / 2), math.sin((low + high) / 2)
    beam[LEFT, 0], beam[LEFT, 1] = -math.sin(high), math.cos(high)
    beam[RIGHT, 0], beam[RIGHT, 1] = math.sin(low), -math.cos(low)
    beam[2, 0], beam[2, 1] = -math.copysign(1.0, middle_x), 0.0
    beam[3, 0], beam[3, 1] = 0.0, -math.copysign(1.0, middle_y)
    beam[4, 0], beam[4, 1] = middle_x, middle_y
    for k in range(5):
        a, b = beam[k, 0], beam[k, 1]
        beam[k, 2] = max(a * x, a * (x + CELL)) + max(b * y, b * (y + CELL)) + SAFETY


@cached_njit(error_model="numpy")
def _clip(beam, ax, ay, bx, by):
    """Clip the segment from a to b to a beam.

    Returns:
        The clipped part's begin and end as shares of the segment (begin > end if no point is inside), and the
        numbers of the half planes where it enters and leaves (NEITHER if it begins or ends inside).
    """
    begin, end, enters, leaves = 0.0, 1.0, NEITHER, NEITHER
    for k in range(4):
        fa = beam[k, 0] * ax + beam[k, 1] * ay - beam[k, 2]
        fb = beam[k, 0] * bx + beam[k, 1] * by - beam[k, 2]
        if fa > 0.0 and fb > 0.0:
            return 1.0, 0.0, NEITHER, NEITHER
        if fa > 0.0 and fa / (fa - fb) > begin:
            begin, enters = fa / (fa - fb), k
        elif fb > 0.0 and fa / (fa - fb) < end:
            end, leaves = fa / (fa - fb), k
    return begin, end, enters, leaves


@cached_njit(error_model="numpy")
def _find_outside(beam, wall_x, wall_y, begin, outside):
    """Write for each point of a closed wall the set of half planes that it is not in, bit by bit."""
    a0, b0, c0 = beam[0]
    a1, b1, c1 = beam[1]
    a2, b2, c2 = beam[2]
    a3, b3, c3 = beam[3]
    for i in range(len(outside)):
        x, y = wall_x[begin + i], wall_y[begin + i]
        outside[i] = (
            (a0 * x + b0 * y - c0 > 0.0)
            | ((a1 * x + b1 * y - c1 > 0.0) << 1)
            | ((a2 * x + b2 * y - c2 > 0.0) << 2)
            | ((a3 * x + b3 * y - c3 > 0.0) << 3)
        )


@cached_njit(error_model="numpy")
def _touches_cell(x, y, ax, ay, bx, by):
    """Return whether the segment from a to b may touch the cell with the lower left corner (x, y)."""
    x, y, side = x - SAFETY, y - SAFETY, CELL + 2 * SAFETY
    if max(ax, bx) < x or min(ax, bx) > x + side or max(ay, by) < y or min(ay, by) > y + side:
        return False
    a, b = by - ay, ax - bx  # all corners on one side of the segment's line?
    middle = a * (x + side / 2 - ax) + b * (y + side / 2 - ay)
    return abs(middle) <= (abs(a) + abs(b)) * side / 2 + SAFETY


@cached_njit(error_model="numpy")
def _look(beam, x, y, wall_x, wall_y, begin, outside, depths):
    """Look from a cell along a beam at one closed wall.

    Args:
        begin: The wall's first point.
        outside: (size + 1,) scratch.
        depths: (size,), written: how far in front of the cell each segment is at least; infinite if not in the beam.

    Returns:
        The depth behind which the wall hides everything; infinite if nothing is hidden. A piece of the wall that
        leads inside the beam from one side to the other without touching the cell cuts the beam in two: the way
        from the cell to any point deeper than all of the piece leads through the piece.
    """
    size = len(depths)
    _find_outside(beam, wall_x, wall_y, begin, outside)
    hidden = np.inf
    entered, piece = NEITHER, 0.0  # the side where the piece came in, its greatest depth so far
    for i in range(2 * size):
        if i >= size and entered == NEITHER:
            break  # after one round only a piece over the wall's first point is left to do
        j = begin + (i if i < size else i - size)
        if outside[j - begin] & outside[j - begin + 1]:
            depths[j - begin] = np.inf
            entered = NEITHER
            continue
        ax, ay, ex, ey = wall_x[j], wall_y[j], wall_x[j + 1] - wall_x[j], wall_y[j + 1] - wall_y[j]
        from_share, to_share, enters, leaves = _clip(beam, ax, ay, wall_x[j + 1], wall_y[j + 1])
        if from_share > to_share:
            depths[j - begin] = np.inf
            entered = NEITHER
            continue
        from_x, from_y, to_x, to_y = ax + from_share * ex, ay + from_share * ey, ax + to_share * ex, ay + to_share * ey
        from_depth = beam[4, 0] * from_x + beam[4, 1] * from_y - beam[4, 2]
        to_depth = beam[4, 0] * to_x + beam[4, 1] * to_y - beam[4, 2]
        depths[j - begin] = min(from_depth, to_depth)
        if enters != NEITHER:
            entered, piece = (enters if enters <= RIGHT else NEITHER), -np.inf
        if entered != NEITHER and _touches_cell(x, y, from_x, from_y, to_x, to_y):
            entered = NEITHER
        piece = max(piece, from_depth, to_depth)
        if leaves != NEITHER:
            if entered != NEITHER and leaves <= RIGHT and leaves != entered:
                hidden = min(hidden, piece + SAFETY)
            entered = NEITHER
    return hidden


@cached_njit(error_model="numpy")
def _append_blocks(blocks, depths, limit, begin):
    """Append the blocks that hold a closed wall's segments up to a depth."""
    size = len(depths)
    start = 0  # a segment with a gap before it, so that no block is begun in the middle of what is seen
    while start < size - 1 and not (depths[start] <= limit < depths[start - 1]):
        start += 1
    end = -1
    for i in range(start, start + size):
        segment = i if i < size else i - size  # a division takes longer than all the rest
        depth = depths[segment]
        if depth > limit:
            continue
        near = int(max(depth - SAFETY, 0.0) / NEAR_STEP)
        if i >= end:
            first = segment // BLOCK_STEP * BLOCK_STEP
            end = i - segment + first + BLOCK
            blocks.append(near << BEGIN_BITS | (begin + first) // BEGIN_UNIT)
        else:
            blocks[-1] = min(blocks[-1], near << BEGIN_BITS | blocks[-1] & (1 << BEGIN_BITS) - 1)


@cached_njit(error_model="numpy")
def _may_hold_car(wall_x, wall_y, size, x, y):
    """Return whether a cell touches a wall or lies between the walls."""
    middle_x, middle_y = x + CELL / 2, y + CELL / 2
    between = False
    for begin in (0, len(wall_x) // 2):
        for j in range(begin, begin + size):
            ax, ay, bx, by = wall_x[j], wall_y[j], wall_x[j + 1], wall_y[j + 1]
            if _touches_cell(x, y, ax, ay, bx, by):
                return True
            if (ay > middle_y) != (by > middle_y) and middle_x < ax + (middle_y - ay) / (by - ay) * (bx - ax):
                between = not between
    return between


@cached_njit(error_model="numpy", nogil=True)
def view_blocks(wall_x, wall_y, grid_x, grid_y, columns, rows):
    """List for every view the blocks of wall segments that a ray can meet first.

    Returns:
        The numbers of all cells (columns * rows,), the blocks of all views, and where each view's begin (V + 1,).
    """
    stop = len(wall_x) // 2
    size = stop - BLOCK
    cells = np.zeros(columns * rows, np.int64)
    blocks = [(begin + first) // BEGIN_UNIT for begin in (0, stop) for first in range(0, size, BLOCK)]
    # The views of cell 0, where no car should be, list every wall.
    lists = [0, len(blocks)]
    for _ in range(VIEW_DIRECTIONS - 1):
        for k in range(lists[1]):
            blocks.append(blocks[k])
        lists.append(len(blocks))
    beam = np.empty((5, 3))
    outside = np.empty(size + 1, np.uint8)
    depths = np.empty((2, size))
    for row in range(1, rows - 1):
        for column in range(1, columns - 1):
            x, y = grid_x + column * CELL, grid_y + row * CELL
            if not _may_hold_car(wall_x, wall_y, size, x, y):
                continue
            cells[row * columns + column] = (len(lists) - 1) // VIEW_DIRECTIONS
            for bin_number in range(VIEW_DIRECTIONS):
                _set_beam(beam, x, y, bin_number)
                hidden = VIEW_DISTANCE
                for wall in range(2):
                    hidden = min(hidden, _look(beam, x, y, wall_x, wall_y, wall * stop, outside, depths[wall]))
                for wall in range(2):
                    _append_blocks(blocks, depths[wall], hidden, wall * stop)
                # Nearest first.
                for k in range(lists[-1] + 1, len(blocks)):
                    block = blocks[k]
                    while k > lists[-1] and blocks[k - 1] > block:
                        blocks[k] = blocks[k - 1]
                        k -= 1
                    blocks[k] = block
                lists.append(len(blocks))
    return cells, np.array(blocks, np.int64), np.array(lists, np.int64)
