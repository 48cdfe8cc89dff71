/** Casts a car's rays against the walls. Lengths are in units, angles in radians. */

import { Beams } from "./beams.js";
import { firstPoint, lastPoint } from "./stretches.js";
import type { Walls } from "./walls.js";

const PARALLEL = 1e-10; // cross product below which a ray and a wall do not meet

/** A fan of rays, the first to the right, evenly apart, the middle one along the heading. */
export interface RayFan {
  readonly count: number;
  /** from the first ray to the last */
  readonly fieldOfView: number;
  readonly maxDistance: number;
}

/** Rays among the walls of one track. */
export class RayCaster {
  private readonly wallX: Float64Array;
  private readonly wallY: Float64Array;
  private readonly beams: Beams;
  private readonly maxDistance: number;
  /** Each ray's angle from the heading, with its cosine and sine. */
  private readonly angles: Float64Array;
  private readonly cosines: Float64Array;
  private readonly sines: Float64Array;

  constructor(walls: Walls, fan: RayFan) {
    this.wallX = walls.x;
    this.wallY = walls.y;
    this.beams = new Beams(walls, fan.maxDistance);
    this.maxDistance = fan.maxDistance;
    const step = fan.fieldOfView / (fan.count - 1);
    this.angles = Float64Array.from({ length: fan.count }, (_, ray) => ray * step - fan.fieldOfView / 2);
    this.cosines = this.angles.map(Math.cos);
    this.sines = this.angles.map(Math.sin);
  }

  /**
   * Write how far each ray goes from a position, as a share of the maximum distance.
   *
   * @param shares Written from index `first` on, one share in [0, 1] for each ray.
   */
  cast(x: number, y: number, heading: number, shares: Float64Array, first: number): void {
    const { beams, angles, cosines, sines } = this;
    const cos = Math.cos(heading);
    const sin = Math.sin(heading);
    const beam = beams.from(x, y);
    for (let ray = 0; ray < angles.length; ray++) {
      const dx = cos * cosines[ray] - sin * sines[ray];
      const dy = sin * cosines[ray] + cos * sines[ray];
      const ahead = beam + beams.binOf(heading + angles[ray]);
      const distance = this.distance(beams.begins[ahead], beams.ends[ahead], x, y, dx, dy, this.maxDistance);
      shares[first + ray] = distance / this.maxDistance;
    }
  }

  /** Return how far a ray goes from (x, y) along (dx, dy) among a part of the lists, at most `limit`. */
  private distance(begin: number, end: number, x: number, y: number, dx: number, dy: number, limit: number): number {
    const { wallX, wallY } = this;
    const { stretches, nears } = this.beams;
    let nearest = limit;
    for (let index = begin; index < end && nears[index] < nearest; index++) {
      const segment = stretches[index];
      if (segment < 0) {
        // Not a segment but a stretch of several, which the list of all segments has at their own numbers.
        nearest = this.distance(firstPoint(segment), lastPoint(segment), x, y, dx, dy, nearest);
        continue;
      }
      const ax = wallX[segment] - x;
      const ay = wallY[segment] - y;
      const ex = wallX[segment + 1] - wallX[segment];
      const ey = wallY[segment + 1] - wallY[segment];
      const cross = dx * ey - dy * ex;
      const side = ax * dy - ay * dx;
      // The lines meet at the share side / cross of the segment, which is in [0, 1] if it and the rest have one sign.
      if (side * (cross - side) < 0 || Math.abs(cross) < PARALLEL) continue;
      const distance = (ax * ey - ay * ex) / cross;
      if (distance >= 0 && distance < nearest) nearest = distance;
    }
    return nearest;
  }
}
