/** Finds the wall point nearest to a position. Lengths are in units. */

import { type CellRanges, Grid } from "./grid.js";
import { clamp } from "./numbers.js";
import { segmentsByCell, type Walls } from "./walls.js";

/** The farthest that a contact may be looked for. */
export const MAX_CONTACT_RADIUS = 3;

const CELL_SIZE = 8;
const MIN_SEGMENT = 1e-10; // squared length below which a segment is a point

/** Contacts with the walls of one track. */
export class WallContacts {
  /** The wall point that `distance` found last. */
  contactX = Number.NaN;
  contactY = Number.NaN;
  private readonly wallX: Float64Array;
  private readonly wallY: Float64Array;
  private readonly grid: Grid;
  private readonly ranges: CellRanges;

  constructor(walls: Walls) {
    this.wallX = walls.x;
    this.wallY = walls.y;
    this.grid = new Grid(walls.bounds, MAX_CONTACT_RADIUS, CELL_SIZE);
    this.ranges = segmentsByCell(walls, this.grid, MAX_CONTACT_RADIUS);
  }

  /**
   * Return the distance of the wall point nearest to a position, or `radius` (at most MAX_CONTACT_RADIUS) if none is
   * nearer than that. Of equally near ones the first counts, on the inner wall before the outer.
   */
  distance(x: number, y: number, radius: number): number {
    const cell = this.grid.cellAt(x, y);
    const { wallX, wallY } = this;
    const { begins, bounds } = this.ranges;
    let nearest = Infinity;
    for (let range = begins[cell]; range < begins[cell + 1]; range += 2) {
      for (let j = bounds[range]; j < bounds[range + 1]; j++) {
        const ax = wallX[j];
        const ay = wallY[j];
        const ex = wallX[j + 1] - ax;
        const ey = wallY[j + 1] - ay;
        const squared = ex * ex + ey * ey;
        const t = squared < MIN_SEGMENT ? 0 : clamp(((x - ax) * ex + (y - ay) * ey) / squared, 0, 1);
        const px = ax + t * ex;
        const py = ay + t * ey;
        const distanceSquared = (x - px) * (x - px) + (y - py) * (y - py);
        if (distanceSquared < nearest) {
          nearest = distanceSquared;
          this.contactX = px;
          this.contactY = py;
        }
      }
    }
    return Math.min(Math.sqrt(nearest), radius);
  }
}
