/** How far cars have come, and the time between two of them. */

const CELL = 2; // units of progress that share an entry

/** One car's progress since its start, and when it came how far. */
export class Progress {
  /** Units along the centre line since the line was first left; below 0 behind it, and after a lap that is lost. */
  distance: number;
  private arcLength: number;
  /** Tick at which each cell of progress was first reached. */
  private readonly reached: number[] = [];

  /** Begin at an arc length, which counts as before the line in the second half of the lap. */
  constructor(
    private readonly trackLength: number,
    arcLength: number,
  ) {
    this.arcLength = arcLength;
    this.distance = arcLength > trackLength / 2 ? arcLength - trackLength : arcLength;
  }

  /** A tick has passed; the car is at an arc length now. */
  see(tick: number, arcLength: number): void {
    this.distance += this.shortWay(arcLength - this.arcLength);
    this.arcLength = arcLength;
    const cell = Math.floor(this.distance / CELL);
    for (let next = this.reached.length; next <= cell; next++) this.reached[next] = tick;
  }

  /** The car has been put at an arc length, before the line that begins its next lap after so many completed ones. */
  loseLap(arcLength: number, laps: number): void {
    this.distance = (laps - 1) * this.trackLength + arcLength;
    this.arcLength = arcLength;
    this.reached.length = Math.min(this.reached.length, Math.max(0, Math.floor(this.distance / CELL) + 1));
  }

  /** The tick at which a distance was first reached; null where it was not yet, or lies before the start. */
  tickAt(distance: number): number | null {
    return this.reached[Math.floor(distance / CELL)] ?? null;
  }

  private shortWay(delta: number): number {
    const half = this.trackLength / 2;
    return delta > half ? delta - this.trackLength : delta < -half ? delta + this.trackLength : delta;
  }
}

/**
 * Ticks by which a car is behind another, negative where it is ahead; null where that cannot be known yet.
 *
 * The one behind is where the other was so many ticks ago.
 */
export function gapTicks(own: Progress, other: Progress, tick: number): number | null {
  const isBehind = own.distance <= other.distance;
  const passed = isBehind ? other.tickAt(own.distance) : own.tickAt(other.distance);
  if (passed === null) return null;
  return isBehind ? tick - passed : passed - tick;
}
