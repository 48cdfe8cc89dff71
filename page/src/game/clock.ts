/** Fixed steps: the game has 60 ticks a second, whatever the frames of the screen. */

import { TICKS_PER_SECOND } from "../../../bridge/src/engine/contract.js";

const MOST_AT_ONCE = 15; // ticks; a machine that is slower than that slows the game down instead

/** Says how many ticks are due at a frame. */
export class Clock {
  /** Ticks per tick of real time. */
  pace = 1;
  /** Share of the next tick that has passed already, in [0, 1). */
  share = 0;
  private last: number | null = null;

  /** Return the whole ticks since the last frame; `now` is in milliseconds. */
  due(now: number): number {
    const passed = this.last === null ? 0 : Math.max(0, now - this.last) / 1000;
    this.last = now;
    const total = this.share + Math.min(passed * TICKS_PER_SECOND * this.pace, MOST_AT_ONCE * Math.max(1, this.pace));
    const ticks = Math.floor(total);
    this.share = total - ticks;
    return ticks;
  }

  /** Time stands still until the next frame: a pause. */
  rest(): void {
    this.last = null;
  }
}
