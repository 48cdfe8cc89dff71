/** A person as a car's controller. */

import type { Controller, Senses } from "../game/controller.js";
import { SteeringAssist } from "../steering/assist.js";
import type { Wish } from "./wish.js";

const STEPS = 1000; // of an input in [0, 1]: so that a recording has short numbers, and drives the same to the bit

/** Drives as a person wishes, with the steering assist unless it is off. */
export class Person implements Controller {
  isAssisted = true;
  /** What was done last: steer, throttle and brake. */
  readonly last = new Float64Array(3);
  private readonly assist = new SteeringAssist();

  constructor(private readonly wish: () => Wish) {}

  /** Whether the person asks for anything now. */
  get isActive(): boolean {
    const { steer, throttle, brake } = this.wish();
    return steer !== 0 || throttle !== 0 || brake !== 0;
  }

  act({ speed }: Senses, action: Float64Array): void {
    const { steer, throttle, brake } = this.wish();
    const assisted = this.assist.step(steer, speed); // also while it is off, so that it takes over smoothly
    action[0] = rounded(this.isAssisted ? assisted : steer);
    action[1] = rounded(throttle);
    action[2] = rounded(brake);
    this.last.set(action);
  }

  begin(): void {
    this.assist.begin();
  }
}

function rounded(value: number): number {
  return Math.round(value * STEPS) / STEPS + 0; // turns -0, which JSON cannot write, into 0
}
