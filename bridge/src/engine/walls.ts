/** The walls of a track as flat numbers, and which parts of them are near each cell of a grid. Lengths in units. */

import type { TrackGeometry } from "./geometry.js";
import { type Bounds, type CellRanges, type Grid, gatherRanges } from "./grid.js";
import { IntList } from "./int_list.js";
import { SAFETY } from "./numbers.js";

/**
 * The points of both closed walls, the inner wall's first.
 *
 * Segment j goes from point j to point j + 1. No segment goes from the inner wall's last point, `innerEnd`, to the
 * outer wall's first.
 */
export interface Walls {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly innerEnd: number;
  readonly bounds: Bounds;
}

/** Gather the walls of a track. */
export function gatherWalls({ innerWall, outerWall }: TrackGeometry): Walls {
  const x = concatenated(innerWall.x, outerWall.x);
  const y = concatenated(innerWall.y, outerWall.y);
  return { x, y, innerEnd: innerWall.x.length - 1, bounds: boundsOf(x, y) };
}

/** The rectangle around some points. */
export function boundsOf(x: Float64Array, y: Float64Array): Bounds {
  const low = (values: Float64Array) => values.reduce((a, b) => Math.min(a, b));
  const high = (values: Float64Array) => values.reduce((a, b) => Math.max(a, b));
  return { lowX: low(x), lowY: low(y), highX: high(x), highY: high(y) };
}

/** List for each cell all segments within `reach` of any of its points. A list may be too long, never too short. */
export function segmentsByCell({ x, y, innerEnd }: Walls, grid: Grid, reach: number): CellRanges {
  const cells = new IntList();
  const segments = new IntList();
  const half = grid.cellSize / 2 + reach + SAFETY; // of the cell made larger by the reach
  for (let segment = 0; segment + 1 < x.length; segment++) {
    if (segment === innerEnd) continue;
    cells.push(grid.outside);
    segments.push(segment);
    const [beginX, endX, beginY, endY] = [x[segment], x[segment + 1], y[segment], y[segment + 1]];
    const [ex, ey] = [endX - beginX, endY - beginY];
    const [firstColumn, lastColumn] = cellRange(beginX - grid.x, endX - grid.x, grid.cellSize, half, grid.columns);
    const [firstRow, lastRow] = cellRange(beginY - grid.y, endY - grid.y, grid.cellSize, half, grid.rows);
    const acrossLimit = half * (Math.abs(ex) + Math.abs(ey));
    for (let row = firstRow; row <= lastRow; row++) {
      for (let column = firstColumn; column <= lastColumn; column++) {
        // The larger cell meets the segment's box; does it meet the line as well?
        const offsetX = grid.x + (column + 0.5) * grid.cellSize - beginX;
        const offsetY = grid.y + (row + 0.5) * grid.cellSize - beginY;
        if (Math.abs(offsetX * ey - offsetY * ex) > acrossLimit) continue;
        cells.push(row * grid.columns + column);
        segments.push(segment);
      }
    }
  }
  return gatherRanges(grid.cellCount, cells, segments);
}

/**
 * Tell for each cell whether its middle lies between the walls: not 0 if it does.
 *
 * It counts how often the outer wall winds around the middle, less how often the inner one does, so that it is right
 * where a track crosses itself as well.
 */
export function cellsBetween({ x, y, innerEnd }: Walls, grid: Grid): Int32Array {
  // First by how much the number changes from a cell's left neighbour to the cell, then the number itself.
  const windings = new Int32Array(grid.cellCount);
  for (let segment = 0; segment + 1 < x.length; segment++) {
    if (segment === innerEnd) continue;
    const [beginX, endX, beginY, endY] = [x[segment], x[segment + 1], y[segment], y[segment + 1]];
    const change = endY > beginY === segment > innerEnd ? 1 : -1;
    const slope = (endX - beginX) / (endY - beginY);
    const [firstRow, lastRow] = cellRange(beginY - grid.y, endY - grid.y, grid.cellSize, 0, grid.rows);
    for (let row = firstRow; row <= lastRow; row++) {
      const middleY = grid.y + (row + 0.5) * grid.cellSize;
      if (beginY > middleY === endY > middleY) continue; // only one of two segments counts that share a point there
      const crossing = beginX + (middleY - beginY) * slope - grid.x;
      const column = Math.ceil(crossing / grid.cellSize - 0.5);
      windings[row * grid.columns + column] += change;
    }
  }
  for (let cell = 1; cell < grid.outside; cell++) {
    if (cell % grid.columns !== 0) windings[cell] += windings[cell - 1];
  }
  return windings;
}

/** The first and the last column (or row) whose middle is within `half` of the stretch from one value to another. */
function cellRange(from: number, to: number, cellSize: number, half: number, count: number): [number, number] {
  const first = Math.ceil((Math.min(from, to) - half) / cellSize - 0.5);
  const last = Math.floor((Math.max(from, to) + half) / cellSize - 0.5);
  return [Math.max(first, 0), Math.min(last, count - 1)];
}

function concatenated(first: Float64Array, second: Float64Array): Float64Array {
  const all = new Float64Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
