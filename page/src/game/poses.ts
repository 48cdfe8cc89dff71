/** Where cars were at the last two ticks, so that a picture between them can be drawn. */

import type { Cars } from "../../../bridge/src/engine/car.js";
import { wrapAngle } from "../../../bridge/src/engine/numbers.js";

/** Position in units, heading in radians. */
export interface Pose {
  readonly x: number;
  readonly y: number;
  readonly heading: number;
}

/** The pose at a share of the way from one to another, by the shorter turn. */
export function poseBetween(from: Pose, to: Pose, share: number): Pose {
  return {
    x: from.x + (to.x - from.x) * share,
    y: from.y + (to.y - from.y) * share,
    heading: from.heading + wrapAngle(to.heading - from.heading) * share,
  };
}

/** Where a car is now. */
export function poseOf({ x, y, heading }: Cars, car: number): Pose {
  return { x: x[car], y: y[car], heading: heading[car] };
}

/** The last two poses of each car. */
export class Poses {
  private readonly before: Pose[];
  private readonly now: Pose[];

  constructor(private readonly cars: Cars) {
    this.now = Array.from({ length: cars.count }, (_, car) => poseOf(this.cars, car));
    this.before = [...this.now];
  }

  /** A car has moved. */
  move(car: number): void {
    this.before[car] = this.now[car];
    this.now[car] = poseOf(this.cars, car);
  }

  /** A car stands somewhere else: nothing lies between. */
  jump(car: number): void {
    this.now[car] = poseOf(this.cars, car);
    this.before[car] = this.now[car];
  }

  /** A car's pose at a share of the last tick, in [0, 1]. */
  at(car: number, share: number): Pose {
    return poseBetween(this.before[car], this.now[car], share);
  }
}
