/** Which wall segments a ray can meet, by where it begins and whereto it goes. Lengths in units, angles in radians. */

import { Grid } from "./grid.js";
import { SAFETY, type Walls } from "./walls.js";

const CELL_SIZE = 16;
const DIRECTIONS = 32; // bins of a full turn; a power of two
const BINS_PER_RADIAN = DIRECTIONS / (2 * Math.PI);
const ANGLE_SAFETY = 1e-9;

/** A segment as it is seen from a cell: nothing of it is nearer than `near`, and it lies in some bins of directions. */
interface Sight {
  readonly segment: number;
  readonly near: number;
  readonly firstBin: number;
  readonly lastBin: number;
}

/**
 * Lists of wall segments, nearest first. A beam is all rays that begin in one cell and go in one bin of directions; its
 * list has every segment that any of them can meet within `reach`. It may be too long, never too short.
 *
 * Beam b's segments are `segments[begins[b]]` up to `segments[ends[b]]`, exclusive; `nears` holds a whole number of
 * units for each of them, nearer than which no ray of the beam meets it.
 */
export class Beams {
  readonly begins: Int32Array;
  readonly ends: Int32Array;
  readonly segments: Int32Array;
  readonly nears: Uint16Array;
  private readonly grid: Grid;
  /** The first beam of each cell. */
  private readonly cellBeams: Int32Array;

  constructor(walls: Walls, reach: number) {
    this.grid = new Grid(walls.bounds, SAFETY, CELL_SIZE);
    const everything = allSegments(walls);
    // The beams of places where no car should be come first: they all have one list with everything.
    const begins = new Array<number>(DIRECTIONS).fill(0);
    const ends = new Array<number>(DIRECTIONS).fill(everything.length);
    const segments = [...everything];
    const nears = everything.map(() => 0);
    this.cellBeams = new Int32Array(this.grid.cellCount);
    for (let cell = 0; cell < this.grid.outside; cell++) {
      const sights = look(walls, everything, this.grid, cell, reach);
      if (sights === null) continue;
      this.cellBeams[cell] = begins.length;
      const lists = Array.from({ length: DIRECTIONS }, (): Sight[] => []);
      for (const sight of sights) {
        const last = Math.min(sight.lastBin, sight.firstBin + DIRECTIONS - 1);
        for (let bin = sight.firstBin; bin <= last; bin++) lists[bin & (DIRECTIONS - 1)].push(sight);
      }
      for (const list of lists) {
        begins.push(segments.length);
        for (const { segment, near } of list) {
          segments.push(segment);
          nears.push(near);
        }
        ends.push(segments.length);
      }
    }
    this.begins = Int32Array.from(begins);
    this.ends = Int32Array.from(ends);
    this.segments = Int32Array.from(segments);
    this.nears = Uint16Array.from(nears);
  }

  /** The first of the beams from a position; add `binOf` for one of them. */
  from(x: number, y: number): number {
    return this.cellBeams[this.grid.cellAt(x, y)];
  }

  /** The bin of a direction. */
  binOf(angle: number): number {
    return Math.floor(angle * BINS_PER_RADIAN) & (DIRECTIONS - 1);
  }
}

function allSegments({ x, innerEnd }: Walls): number[] {
  const segments: number[] = [];
  for (let segment = 0; segment + 1 < x.length; segment++) if (segment !== innerEnd) segments.push(segment);
  return segments;
}

/** Return what is seen from a cell within `reach`, nearest first; null if the cell is nowhere between the walls. */
function look(walls: Walls, segments: readonly number[], grid: Grid, cell: number, reach: number): Sight[] | null {
  const middleX = grid.x + ((cell % grid.columns) + 0.5) * grid.cellSize;
  const middleY = grid.y + (Math.floor(cell / grid.columns) + 0.5) * grid.cellSize;
  const radius = grid.cellSize * Math.SQRT1_2 + SAFETY; // of the circle around the cell
  const sights: Sight[] = [];
  let isBetween = false; // the walls, by how many segments lie to the right of the middle
  let isTouched = false;
  for (const segment of segments) {
    const ax = walls.x[segment] - middleX;
    const ay = walls.y[segment] - middleY;
    const ex = walls.x[segment + 1] - walls.x[segment];
    const ey = walls.y[segment + 1] - walls.y[segment];
    if (ay > 0 !== ay + ey > 0 && ax - (ay * ex) / ey > 0) isBetween = !isBetween;
    const squared = ex * ex + ey * ey;
    const share = squared === 0 ? 0 : Math.min(1, Math.max(0, -(ax * ex + ay * ey) / squared));
    const distance = Math.sqrt((ax + share * ex) ** 2 + (ay + share * ey) ** 2);
    if (distance - radius >= reach) continue;
    if (distance <= radius) {
      isTouched = true;
      sights.push({ segment, near: 0, firstBin: 0, lastBin: DIRECTIONS - 1 });
      continue;
    }
    // From the middle it is seen between two angles, from elsewhere in the circle a little to either side of them.
    const begin = Math.atan2(ay, ax);
    const turn = Math.atan2(ax * ey - ay * ex, ax * (ax + ex) + ay * (ay + ey));
    const margin = Math.asin(radius / distance) + ANGLE_SAFETY;
    sights.push({
      segment,
      near: Math.floor(distance - radius),
      firstBin: Math.floor((begin + Math.min(turn, 0) - margin) * BINS_PER_RADIAN),
      lastBin: Math.floor((begin + Math.max(turn, 0) + margin) * BINS_PER_RADIAN),
    });
  }
  return isBetween || isTouched ? sights.sort((a, b) => a.near - b.near) : null;
}
