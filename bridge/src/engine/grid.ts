/** A uniform grid of square cells, and what matters in each cell. Lengths are in units. */

import type { Vector } from "./centre_line.js";
import { IntList } from "./int_list.js";

const MAX_CELLS_PER_AXIS = 1024; // keeps the lists of a track of absurd extent small, at the price of larger cells

/** A rectangle. */
export interface Bounds {
  readonly lowX: number;
  readonly lowY: number;
  readonly highX: number;
  readonly highY: number;
}

/** Square cells, numbered row by row, that cover a rectangle, and one cell more for everything outside of it. */
export class Grid {
  /** Lower left corner. */
  readonly x: number;
  readonly y: number;
  /** Side of a cell. */
  readonly cellSize: number;
  readonly columns: number;
  readonly rows: number;
  private readonly cellsPerUnit: number;

  /** Cover `bounds` and at least `margin` around it with cells of `cellSize`, or larger ones if they were too many. */
  constructor(bounds: Bounds, margin: number, cellSize: number) {
    const width = bounds.highX - bounds.lowX + 2 * margin;
    const height = bounds.highY - bounds.lowY + 2 * margin;
    this.cellSize = Math.max(cellSize, Math.max(width, height) / MAX_CELLS_PER_AXIS);
    this.cellsPerUnit = 1 / this.cellSize;
    this.x = bounds.lowX - margin;
    this.y = bounds.lowY - margin;
    this.columns = Math.ceil(width / this.cellSize) + 1;
    this.rows = Math.ceil(height / this.cellSize) + 1;
  }

  /** Number of the cell that is everything outside. */
  get outside(): number {
    return this.columns * this.rows;
  }

  /** Number of cells, the one outside included. */
  get cellCount(): number {
    return this.outside + 1;
  }

  /** The middle of a cell other than the one outside. */
  middleOf(cell: number): Vector {
    return {
      x: this.x + ((cell % this.columns) + 0.5) * this.cellSize,
      y: this.y + (Math.floor(cell / this.columns) + 0.5) * this.cellSize,
    };
  }

  /** The cell of a position. */
  cellAt(x: number, y: number): number {
    const column = (x - this.x) * this.cellsPerUnit;
    const row = (y - this.y) * this.cellsPerUnit;
    if (!(column >= 0 && column < this.columns && row >= 0 && row < this.rows)) return this.outside;
    return (row | 0) * this.columns + (column | 0);
  }
}

/**
 * For each cell of a grid the numbers of the things that matter there, as ranges of neighbouring numbers.
 *
 * Cell c's ranges are the pairs (first, past the last) in `bounds` from index `begins[c]` up to `begins[c + 1]`.
 */
export interface CellRanges {
  readonly begins: Int32Array;
  readonly bounds: Int32Array;
}

/** Collects ranges, cell by cell. */
export class RangeCollector {
  private readonly begins = new IntList();
  private readonly bounds = new IntList();
  /** The range that may grow on. */
  private first = 0;
  private end = 0;

  constructor() {
    this.begins.push(0);
  }

  /** Add the numbers from `first` up to `end`, exclusive, to the current cell, all above those that it has. */
  add(first: number, end: number): void {
    if (first !== this.end) {
      this.finishRange();
      this.first = first;
    }
    this.end = end;
  }

  /** Go on to the next cell. */
  finishCell(): void {
    this.finishRange();
    this.begins.push(this.bounds.length);
  }

  /** The ranges of all cells finished. */
  ranges(): CellRanges {
    return { begins: this.begins.toArray(), bounds: this.bounds.toArray() };
  }

  private finishRange(): void {
    if (this.end > this.first) {
      this.bounds.push(this.first);
      this.bounds.push(this.end);
    }
    this.first = 0;
    this.end = 0;
  }
}

/** Gather pairs of a cell and a number, in parallel lists; each cell's numbers come in ascending order. */
export function gatherRanges(cellCount: number, cells: IntList, numbers: IntList): CellRanges {
  const sorted = sortedByCell(cellCount, cells.toArray(), numbers.toArray());
  const collector = new RangeCollector();
  for (let cell = 0; cell < cellCount; cell++) {
    for (let i = sorted.begins[cell]; i < sorted.begins[cell + 1]; i++) {
      collector.add(sorted.numbers[i], sorted.numbers[i] + 1);
    }
    collector.finishCell();
  }
  return collector.ranges();
}

/** Sort numbers by cell; `begins` tells where each cell's begin. Those of one cell keep their order. */
function sortedByCell(
  cellCount: number,
  cells: Int32Array,
  numbers: Int32Array,
): { begins: Int32Array; numbers: Int32Array } {
  const begins = new Int32Array(cellCount + 1);
  for (const cell of cells) begins[cell + 1]++;
  for (let cell = 0; cell < cellCount; cell++) begins[cell + 1] += begins[cell];
  const next = begins.slice();
  const sorted = new Int32Array(numbers.length);
  for (let i = 0; i < cells.length; i++) sorted[next[cells[i]]++] = numbers[i];
  return { begins, numbers: sorted };
}
