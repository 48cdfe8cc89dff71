/** Trained drivers. */

import type { Controller, Senses } from "../game/controller.js";

/** A trained driver's network. */
export interface Driver {
  /** Write steer, throttle and brake for an observation (14,). */
  decide(observation: Float64Array, action: Float64Array): Promise<void>;
}

/** Drives a car with a driver that is asked every so many ticks, its action held in between. */
export class DriverController implements Controller {
  private ticksLeft = 0;
  private readonly held = new Float64Array(3);

  constructor(
    private readonly driver: Driver,
    private readonly actionRepeat: number,
  ) {}

  async act({ observation }: Senses, action: Float64Array): Promise<void> {
    if (this.ticksLeft === 0) {
      await this.driver.decide(observation, this.held);
      this.ticksLeft = this.actionRepeat;
    }
    this.ticksLeft -= 1;
    action.set(this.held);
  }

  begin(): void {
    this.ticksLeft = 0;
  }
}
