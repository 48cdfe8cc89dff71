/** Casts a car's rays against the walls. Lengths are in units, angles in radians. */

import { type CellRanges, Grid } from "./grid.js";
import { SAFETY, segmentsByCell, type Walls } from "./walls.js";

const CELL_SIZE = 4;
const LIST_CELLS = 3; // a cell's list reaches as far as this many cells
const PARALLEL = 1e-10; // cross product below which a ray and a wall do not meet

/** A fan of rays, the first to the right, evenly apart, the middle one along the heading. */
export interface RayFan {
  readonly count: number;
  /** from the first ray to the last */
  readonly fieldOfView: number;
  readonly maxDistance: number;
}

/**
 * Rays among the walls of one track.
 *
 * A ray goes in strides. From a cell of the grid it is tested against the cell's list, which has all wall segments
 * within the cell's reach, and then it strides as far as that reach. In the open the reach is large and the list empty.
 */
export class RayCaster {
  private readonly wallX: Float64Array;
  private readonly wallY: Float64Array;
  private readonly grid: Grid;
  private readonly ranges: CellRanges;
  private readonly reaches: Float64Array;
  private readonly maxDistance: number;
  /** Cosine and sine of each ray's angle from the heading. */
  private readonly cosines: Float64Array;
  private readonly sines: Float64Array;

  constructor(walls: Walls, fan: RayFan) {
    this.wallX = walls.x;
    this.wallY = walls.y;
    this.grid = new Grid(walls.bounds, SAFETY, CELL_SIZE);
    const listReach = LIST_CELLS * this.grid.cellSize;
    this.ranges = segmentsByCell(walls, this.grid, listReach);
    this.reaches = openDistances(this.grid, segmentsByCell(walls, this.grid, 0)).map((open) =>
      Math.max(open, listReach),
    );
    this.maxDistance = fan.maxDistance;
    const step = fan.fieldOfView / (fan.count - 1);
    const angles = Float64Array.from({ length: fan.count }, (_, ray) => ray * step - fan.fieldOfView / 2);
    this.cosines = angles.map(Math.cos);
    this.sines = angles.map(Math.sin);
  }

  /**
   * Write how far each ray goes from a position, as a share of the maximum distance.
   *
   * @param shares Written from index `first` on, one share in [0, 1] for each ray.
   */
  cast(x: number, y: number, heading: number, shares: Float64Array, first: number): void {
    const { begins } = this.ranges;
    const cell = this.grid.cellAt(x, y);
    const open = begins[cell] === begins[cell + 1] ? this.reaches[cell] : 0; // for all rays alike
    const cos = Math.cos(heading);
    const sin = Math.sin(heading);
    for (let ray = 0; ray < this.cosines.length; ray++) {
      const dx = cos * this.cosines[ray] - sin * this.sines[ray];
      const dy = sin * this.cosines[ray] + cos * this.sines[ray];
      shares[first + ray] = this.distance(x, y, dx, dy, open) / this.maxDistance;
    }
  }

  /** Return how far one ray goes that meets nothing before `open`. */
  private distance(x: number, y: number, dx: number, dy: number, open: number): number {
    const { grid, reaches, wallX, wallY } = this;
    const { begins, bounds } = this.ranges;
    let nearest = this.maxDistance;
    for (let seen = open; seen < nearest; ) {
      const cell = grid.cellAt(x + dx * seen, y + dy * seen);
      seen += reaches[cell];
      const rangesEnd = begins[cell + 1];
      for (let range = begins[cell]; range < rangesEnd; range += 2) {
        const end = bounds[range + 1];
        let j = bounds[range];
        let side = (wallX[j] - x) * dy - (wallY[j] - y) * dx; // of the ray's line on which a wall point lies
        for (; j < end; j++) {
          const nextSide = (wallX[j + 1] - x) * dy - (wallY[j + 1] - y) * dx;
          const isCrossed = side * nextSide <= 0;
          side = nextSide;
          if (!isCrossed) continue;
          const ex = wallX[j + 1] - wallX[j];
          const ey = wallY[j + 1] - wallY[j];
          const cross = dx * ey - dy * ex;
          if (Math.abs(cross) < PARALLEL) continue;
          const distance = ((wallX[j] - x) * ey - (wallY[j] - y) * ex) / cross;
          if (distance >= 0 && distance < nearest) nearest = distance;
        }
      }
    }
    return nearest;
  }
}

/**
 * Return for each cell a distance that is open in every direction from any of its points.
 *
 * In cells, as a king walks on a chessboard, it is one less than the way to the nearest cell that a wall touches.
 */
function openDistances({ columns, rows, outside, cellCount, cellSize }: Grid, touching: CellRanges): Float64Array {
  const isTouched = (cell: number) => touching.begins[cell] < touching.begins[cell + 1];
  const distances = new Float64Array(cellCount).fill(Infinity);
  let front: number[] = [];
  for (let cell = 0; cell < outside; cell++) if (isTouched(cell)) front.push(cell);
  for (const cell of front) distances[cell] = 0;
  for (let steps = 0; front.length > 0; steps++) {
    const next: number[] = [];
    for (const cell of front) {
      const column = cell % columns;
      const row = Math.floor(cell / columns);
      for (let r = Math.max(row - 1, 0); r <= Math.min(row + 1, rows - 1); r++) {
        for (let c = Math.max(column - 1, 0); c <= Math.min(column + 1, columns - 1); c++) {
          const neighbour = r * columns + c;
          if (distances[neighbour] !== Infinity) continue;
          distances[neighbour] = steps * cellSize;
          next.push(neighbour);
        }
      }
    }
    front = next;
  }
  return distances;
}
