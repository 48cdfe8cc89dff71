/** Which stretches of wall a ray can meet, by where it begins and whereto it goes. Lengths in units, angles in radians. */

import { Grid } from "./grid.js";
import { IntList } from "./int_list.js";
import { SAFETY } from "./numbers.js";
import { firstPoint, lastPoint, type Stretches, stretchesOf } from "./stretches.js";
import { cellsBetween, segmentsByCell, type Walls } from "./walls.js";

const CELL_SIZE = 16;
const DIRECTIONS = 32; // bins of a full turn; a power of two
const BINS_PER_RADIAN = DIRECTIONS / (2 * Math.PI);
const ANGLE_SAFETY = 1e-9;

/** A stretch as it is seen from a cell: nothing of it is nearer than `near`, and it lies in some bins of directions. */
interface Sight {
  readonly stretch: number;
  readonly near: number;
  readonly firstBin: number;
  readonly lastBin: number;
}

/**
 * Lists of stretches of wall, nearest first. A beam is all rays that begin in one cell and go in one bin of directions;
 * its list has every stretch that any of them can meet within `reach`. It may be too long, never too short.
 *
 * Beam b's stretches are `stretches[begins[b]]` up to `stretches[ends[b]]`, exclusive; `nears` holds a whole number of
 * units for each of them, nearer than which no ray of the beam meets it. The first list has all segments of the walls
 * one by one, at the index that is their number.
 */
export class Beams {
  readonly begins: Int32Array;
  readonly ends: Int32Array;
  readonly stretches: Int32Array;
  readonly nears: Uint16Array;
  private readonly grid: Grid;
  /** The first beam of each cell. */
  private readonly cellBeams: Int32Array;

  constructor(walls: Walls, reach: number) {
    this.grid = new Grid(walls.bounds, SAFETY, CELL_SIZE);
    const begins = new IntList();
    const ends = new IntList();
    const stretches = new IntList();
    const nears = new IntList();
    const add = (list: readonly Sight[]) => {
      begins.push(stretches.length);
      for (const { stretch, near } of list) {
        stretches.push(stretch);
        nears.push(near);
      }
      ends.push(stretches.length);
    };
    // The beams of places where no car should be come first: they all have one list with every segment, at its number.
    for (let segment = 0; segment + 1 < walls.x.length; segment++) {
      stretches.push(segment === walls.innerEnd ? segment - 1 : segment); // there is none, so repeat the one before
      nears.push(0);
    }
    for (let bin = 0; bin < DIRECTIONS; bin++) {
      begins.push(0);
      ends.push(stretches.length);
    }
    this.cellBeams = new Int32Array(this.grid.cellCount);
    const cut = stretchesOf(walls);
    const isBetween = cellsBetween(walls, this.grid);
    const touching = segmentsByCell(walls, this.grid, 0);
    for (let cell = 0; cell < this.grid.outside; cell++) {
      const isTouched = touching.begins[cell] < touching.begins[cell + 1];
      if (isBetween[cell] === 0 && !isTouched) continue;
      this.cellBeams[cell] = begins.length;
      for (const list of byDirection(look(walls, cut, this.grid, cell, reach))) add(list);
    }
    this.begins = begins.toArray();
    this.ends = ends.toArray();
    this.stretches = stretches.toArray();
    this.nears = Uint16Array.from(nears.toArray());
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

/** List the sights in each bin of directions, nearest first. */
function byDirection(sights: Sight[]): Sight[][] {
  const lists = Array.from({ length: DIRECTIONS }, (): Sight[] => []);
  for (const sight of sights.sort((a, b) => a.near - b.near)) {
    const last = Math.min(sight.lastBin, sight.firstBin + DIRECTIONS - 1);
    for (let bin = sight.firstBin; bin <= last; bin++) lists[bin & (DIRECTIONS - 1)].push(sight);
  }
  return lists;
}

/** Return what is seen from a cell within `reach`. */
function look(walls: Walls, { inner, outer, longest }: Stretches, grid: Grid, cell: number, reach: number): Sight[] {
  const { x: middleX, y: middleY } = grid.middleOf(cell);
  const radius = grid.cellSize * Math.SQRT1_2 + SAFETY; // of the circle around the cell
  const sights: Sight[] = [];
  for (const wall of [inner, outer]) {
    for (let index = 0; index < wall.length; ) {
      const point = firstPoint(wall[index]);
      const distance = Math.sqrt((walls.x[point] - middleX) ** 2 + (walls.y[point] - middleY) ** 2);
      // One that begins too far away by many lengths allows to leave out as many, as each begins where the last ended.
      const leap = Math.floor((distance - radius - reach) / longest);
      if (leap > 0) {
        index += leap;
        continue;
      }
      const sight = sightOf(walls, wall[index], middleX, middleY, radius);
      if (sight.near < reach) sights.push(sight);
      index += 1;
    }
  }
  return sights;
}

/** Return how a stretch is seen from anywhere in a circle. */
function sightOf(walls: Walls, stretch: number, middleX: number, middleY: number, radius: number): Sight {
  const first = firstPoint(stretch);
  const last = lastPoint(stretch);
  let ax = walls.x[first] - middleX;
  let ay = walls.y[first] - middleY;
  const begin = Math.atan2(ay, ax);
  let distance = Number.POSITIVE_INFINITY;
  // From the middle it is seen between two angles: the turns from its begin that are farthest to either side.
  let turn = 0;
  let right = 0;
  let left = 0;
  for (let point = first + 1; point <= last; point++) {
    const bx = walls.x[point] - middleX;
    const by = walls.y[point] - middleY;
    distance = Math.min(distance, distanceFromOrigin(ax, ay, bx - ax, by - ay));
    turn += Math.atan2(ax * by - ay * bx, ax * bx + ay * by);
    right = Math.min(right, turn);
    left = Math.max(left, turn);
    ax = bx;
    ay = by;
  }
  if (distance <= radius) return { stretch, near: 0, firstBin: 0, lastBin: DIRECTIONS - 1 };
  // From elsewhere in the circle it is seen a little to either side of them.
  const margin = Math.asin(radius / distance) + ANGLE_SAFETY;
  return {
    stretch,
    near: Math.floor(distance - radius),
    firstBin: Math.floor((begin + right - margin) * BINS_PER_RADIAN),
    lastBin: Math.floor((begin + left + margin) * BINS_PER_RADIAN),
  };
}

/** The distance from the origin to a segment that begins at (ax, ay) and goes along (ex, ey). */
function distanceFromOrigin(ax: number, ay: number, ex: number, ey: number): number {
  const squared = ex * ex + ey * ey;
  const share = squared === 0 ? 0 : Math.min(1, Math.max(0, -(ax * ex + ay * ey) / squared));
  return Math.sqrt((ax + share * ex) ** 2 + (ay + share * ey) ** 2);
}
