/** Trained drivers. */

import { InputError } from "../../../bridge/src/checks.js";
import { ACTION_SIZE } from "../../../bridge/src/engine/contract.js";
import type { Controller, Senses } from "../game/controller.js";

/** A trained driver's network. */
export interface Driver {
  /** Write steer, throttle and brake for an observation (14,). */
  decide(observation: Float64Array, action: Float64Array): Promise<void>;
}

/**
 * Check what a network has answered.
 *
 * @throws InputError It is not an action's three finite numbers.
 */
export function checkAnswer(values: ArrayLike<number>, label: string): void {
  const given = Array.from(values);
  if (given.length === ACTION_SIZE && given.every(Number.isFinite)) return;
  throw new InputError(
    `The driver "${label}" must answer with ${ACTION_SIZE} finite numbers; got ${given.slice(0, 6).join(", ") || "none"}.`,
  );
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
