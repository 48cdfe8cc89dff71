/** Whatever drives a car in a session. */

/** What a controller knows of its car at a tick. */
export interface Senses {
  /** (14,) the numbers of the game's contract */
  readonly observation: Float64Array;
  /** units/s */
  readonly speed: number;
}

/** Decides what a car does, tick by tick. */
export interface Controller {
  /** Write steer, throttle and brake of the next tick. */
  act(senses: Senses, action: Float64Array): void | Promise<void>;
  /** The car has been put somewhere else: forget what led there. */
  begin(): void;
}
