/** Times a car's laps. */

/** A completed lap. */
export interface Lap {
  /** how long it took */
  readonly ticks: number;
  /** whether the car touched no wall */
  readonly isClean: boolean;
}

/** Turns the game's lap counter of one car into lap times. */
export class LapTimer {
  /** The completed laps, in order. */
  readonly laps: Lap[] = [];
  /** Of the lap that the car is on. */
  ticks = 0;
  isClean = true;
  private lap = 1;

  /** Whether the next crossing of the line completes no lap. */
  get isOutLap(): boolean {
    return this.lap === 0;
  }

  /** Ticks of the fastest lap; null without any. */
  get best(): number | null {
    return fastest(this.laps);
  }

  /** Ticks of the fastest clean lap, which earns a medal; null without any. */
  get bestClean(): number | null {
    return fastest(this.laps.filter(({ isClean }) => isClean));
  }

  /** The car has been placed: on lap 1 at the standing start, on lap 0 elsewhere. */
  begin(lap: number): void {
    this.lap = lap;
    this.ticks = 0;
    this.isClean = true;
  }

  /** A tick has passed, after which the car is on a lap; return the lap that it has completed with it, if any. */
  see(lap: number, isContact: boolean): Lap | null {
    this.ticks += 1;
    if (isContact) this.isClean = false;
    if (lap === this.lap) return null;
    const done = this.isOutLap ? null : { ticks: this.ticks, isClean: this.isClean };
    if (done !== null) this.laps.push(done);
    this.begin(lap);
    return done;
  }
}

function fastest(laps: readonly Lap[]): number | null {
  return laps.length > 0 ? Math.min(...laps.map(({ ticks }) => ticks)) : null;
}
