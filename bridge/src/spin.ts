/** Polling for requests before the event loop sleeps; the same rule as the client's, `racer_env/bridge/spin.py`. */

import { availableParallelism } from "node:os";
import { performance } from "node:perf_hooks";

const POLL_MS = availableParallelism() > 1 ? 0.2 : 0; // with a single processor, it would only delay the client
const SAVED_MS = 0.05; // by a poll that finds a request: about what it takes to wake an idle processor
export const MOST_SAVED_MS = 4; // about what another process keeps a processor for
export const SHORTEST_PAUSE = 16; // waits
export const LONGEST_PAUSE = 1024;
export const CALM = 512; // polls that pay, after which a pause is short again

/** Decides for each wait whether it polls: for as long as that saves more time than it takes. */
export class Spin {
  private savedMs = 0;
  private good = 0; // polls since the last pause
  private pause = 0; // waits left that sleep at once
  private nextPause = SHORTEST_PAUSE;

  /** A poll in vain takes `limitMs`; 0 never polls. */
  constructor(readonly limitMs = POLL_MS) {}

  /** Return whether the next wait polls. */
  begin(): boolean {
    if (this.pause === 0) return this.limitMs > 0;
    this.pause -= 1;
    return false;
  }

  /** Note whether a poll has found a request, and how long it took. */
  end(found: boolean, tookMs: number): void {
    if (found && tookMs <= this.limitMs) {
      this.savedMs = Math.min(this.savedMs + SAVED_MS, MOST_SAVED_MS);
      this.good += 1;
      if (this.good === CALM) this.nextPause = SHORTEST_PAUSE;
      return;
    }
    this.savedMs -= tookMs;
    if (this.savedMs >= 0) return;
    this.savedMs = 0;
    this.good = 0;
    this.pause = this.nextPause;
    this.nextPause = Math.min(2 * this.nextPause, LONGEST_PAUSE);
  }
}

/**
 * Keeps the event loop turning for a moment after a reply, where that is worth while: the next request of a client that
 * trains follows within microseconds, and an idle processor takes longer than those to wake up.
 */
export class Poll {
  private turn: NodeJS.Immediate | null = null; // null where nothing is waited for
  private began = 0;
  private looks = 0;

  constructor(private readonly spin = new Spin()) {}

  /** A reply has been sent. */
  begin(): void {
    if (!this.spin.begin()) return;
    this.began = performance.now();
    this.looks = 0;
    this.turn = setImmediate(this.look);
  }

  /** A request has come. */
  end(): void {
    if (this.turn === null) return;
    clearImmediate(this.turn);
    this.turn = null;
    const took = performance.now() - this.began;
    // A request that is found at once, as of a second connection, was there already, and so saves nothing.
    if (this.looks > 1 || took > this.spin.limitMs) this.spin.end(true, took);
  }

  private readonly look = (): void => {
    this.looks += 1;
    const took = performance.now() - this.began;
    if (took < this.spin.limitMs) {
      this.turn = setImmediate(this.look);
    } else {
      this.turn = null;
      this.spin.end(false, took);
    }
  };
}
