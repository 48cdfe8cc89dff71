/**
 * The steering assist: what a person asks for, made into steering that a person can drive with.
 *
 * `training/drives/steering_assist.py` does the same for the toolkit's window, and the recordings in
 * `tests/recordings/steering_assist.json` hold both to the same numbers.
 */

import { TICKS_PER_SECOND } from "../../../bridge/src/engine/contract.js";
import SHARED from "../../../training/drives/steering_assist.json";

/** How much the assist holds back. */
export interface AssistSettings {
  /** Speed in units/s at which half of the lock is left; at three times that, a quarter. */
  readonly halfLockSpeed: number;
  /** Seconds in which a key that is held turns the wheels from the middle to the limit. */
  readonly secondsToLimit: number;
  /** Seconds in which they turn back once it is let go. */
  readonly secondsToMiddle: number;
}

/** Limits the lock by speed, and ramps into it and out of it, faster back to the middle. */
export class SteeringAssist {
  private readonly halfLockSpeed: number;
  private readonly out: number;
  private readonly back: number;
  /** Share of the limit, -1 to 1. */
  private turned = 0;

  constructor({ halfLockSpeed, secondsToLimit, secondsToMiddle }: AssistSettings = SHARED) {
    this.halfLockSpeed = halfLockSpeed;
    this.out = 1 / (secondsToLimit * TICKS_PER_SECOND);
    this.back = 1 / (secondsToMiddle * TICKS_PER_SECOND);
  }

  /** Turn to the middle at once: the car has been put somewhere else. */
  begin(): void {
    this.turned = 0;
  }

  /**
   * Return the steering of the next tick, in [-1, 1].
   *
   * @param wanted What keys, stick or finger ask for, in [-1, 1].
   * @param speed Speed of the car, in units/s.
   */
  step(wanted: number, speed: number): number {
    const goal = wanted * this.turned >= 0 ? wanted : 0; // to the other side, through the middle
    const most = Math.abs(goal) > Math.abs(this.turned) ? this.out : this.back;
    this.turned = Math.min(Math.max(goal, this.turned - most), this.turned + most);
    return this.turned / (1 + speed / this.halfLockSpeed);
  }
}
