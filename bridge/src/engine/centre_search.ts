/** Finds the centre line's point nearest to a position. Lengths are in units. */

import { type CentreLine, CHORDS_PER_SEGMENT, COEFFICIENTS_PER_SEGMENT, MIN_CHORD } from "./centre_line.js";
import { CentreSamples } from "./centre_samples.js";

const SEARCH_ROUNDS = 16; // of the ternary search
const NONE = -1;

/** The nearest-point search on one centre line: coarse over even samples, then ternary around the best of them. */
export class CentreSearch {
  /** What `find` found: arc length of the nearest point in [0, L), distance to it, half of the road's width there. */
  arcLength = Number.NaN;
  distance = Number.NaN;
  halfWidth = Number.NaN;

  private readonly samples: CentreSamples;
  private readonly totalLength: number;
  private readonly coefficients: Float64Array;
  private readonly chordBegins: Float64Array;
  /** By chord: the segment; its parameter t at the chord's begin, and the rate at which t grows with arc length. */
  private readonly chordSegments: Int32Array;
  private readonly chordParameters: Float64Array;
  private readonly chordRates: Float64Array;

  constructor(private readonly line: CentreLine) {
    this.samples = new CentreSamples(line);
    this.totalLength = line.totalLength;
    this.coefficients = line.coefficients;
    const chords = line.lengths.length - 1;
    this.chordBegins = line.lengths;
    this.chordSegments = Int32Array.from({ length: chords }, (_, i) => Math.floor(i / CHORDS_PER_SEGMENT));
    this.chordParameters = Float64Array.from(
      { length: chords },
      (_, i) => (i % CHORDS_PER_SEGMENT) * (1 / CHORDS_PER_SEGMENT),
    );
    this.chordRates = Float64Array.from({ length: chords }, (_, i) => {
      const chord = line.lengths[i + 1] - line.lengths[i];
      return chord < MIN_CHORD ? 0 : 1 / CHORDS_PER_SEGMENT / chord;
    });
  }

  /** Find the centre line's point nearest to a position and write `arcLength`, `distance` and `halfWidth`. */
  find(x: number, y: number): void {
    const { samples } = this;
    const sample = samples.nearest(x, y);
    let best = samples.arcLengthOf(sample);
    let low = best - samples.spacing;
    let high = best + samples.spacing;
    const dx = samples.x[sample] - x;
    const dy = samples.y[sample] - y;
    let nearest = dx * dx + dy * dy;
    for (let round = 0; round < SEARCH_ROUNDS; round++) {
      // Asked once, after the first round, as the simulator does: both ways to go on round differently.
      const chord = round === 1 ? this.commonChord(low, high) : NONE;
      if (chord !== NONE) {
        this.findAlong(chord, x, y, low, high, best, nearest, SEARCH_ROUNDS - round);
        return;
      }
      const third = (high - low) / 3;
      const m1 = low + third;
      const m2 = high - third;
      const d1 = this.distanceSquaredAt(m1, x, y);
      const d2 = this.distanceSquaredAt(m2, x, y);
      const isFirst = d1 < d2;
      if (isFirst) high = m2;
      else low = m1;
      if (isFirst && d1 < nearest) {
        nearest = d1;
        best = m1;
      } else if (!isFirst && d2 < nearest) {
        nearest = d2;
        best = m2;
      }
    }
    this.finish(best, nearest);
  }

  /**
   * Do the last rounds of a search whose interval lies in one segment, where it may reach from the end of the chord
   * before into `chord`. This is what the time of a search goes into, so the segment's numbers are at hand.
   */
  private findAlong(
    chord: number,
    x: number,
    y: number,
    intervalLow: number,
    intervalHigh: number,
    bestSoFar: number,
    nearestSoFar: number,
    rounds: number,
  ): void {
    const c = this.coefficients;
    const s = this.chordSegments[chord] * COEFFICIENTS_PER_SEGMENT;
    const [x3, x2, x1, x0] = [c[s], c[s + 1], c[s + 2], c[s + 3] - x];
    const [y3, y2, y1, y0] = [c[s + 4], c[s + 5], c[s + 6], c[s + 7] - y];
    const begin = this.chordBegins[chord];
    const parameter = this.chordParameters[chord];
    const rate = this.chordRates[chord];
    const rateBefore = this.chordRates[Math.max(chord - 1, 0)];
    let low = intervalLow;
    let high = intervalHigh;
    let best = bestSoFar;
    let nearest = nearestSoFar;
    for (let round = 0; round < rounds; round++) {
      const third = (high - low) / 3;
      const m1 = low + third;
      const m2 = high - third;
      const t1 = parameter + (m1 - begin) * (m1 >= begin ? rate : rateBefore);
      const t2 = parameter + (m2 - begin) * (m2 >= begin ? rate : rateBefore);
      const dx1 = ((x3 * t1 + x2) * t1 + x1) * t1 + x0;
      const dy1 = ((y3 * t1 + y2) * t1 + y1) * t1 + y0;
      const dx2 = ((x3 * t2 + x2) * t2 + x1) * t2 + x0;
      const dy2 = ((y3 * t2 + y2) * t2 + y1) * t2 + y0;
      const d1 = dx1 * dx1 + dy1 * dy1;
      const d2 = dx2 * dx2 + dy2 * dy2;
      if (d1 < d2) {
        high = m2;
        if (d1 < nearest) {
          nearest = d1;
          best = m1;
        }
      } else {
        low = m1;
        if (d2 < nearest) {
          nearest = d2;
          best = m2;
        }
      }
    }
    this.finish(best, nearest);
  }

  private finish(best: number, nearest: number): void {
    this.arcLength = this.wrapOnce(best);
    this.distance = Math.sqrt(nearest);
    this.halfWidth = this.line.halfWidthAt(this.arcLength);
  }

  /** The chord in which an interval ends, if it begins in that one or the one before and all is one segment. */
  private commonChord(low: number, high: number): number {
    if (low < 0 || high >= this.totalLength) return NONE;
    const first = this.line.chordAt(low);
    const last = this.line.chordAt(high);
    return last - first <= 1 && this.chordSegments[first] === this.chordSegments[last] ? last : NONE;
  }

  /** Squared distance of a position from the centre line's point at an arc length in (-L, 2 L). */
  private distanceSquaredAt(arcLength: number, x: number, y: number): number {
    const d = this.wrapOnce(arcLength);
    const chord = this.line.chordAt(d);
    const t = this.chordParameters[chord] + (d - this.chordBegins[chord]) * this.chordRates[chord];
    const c = this.coefficients;
    const s = this.chordSegments[chord] * COEFFICIENTS_PER_SEGMENT;
    const dx = ((c[s] * t + c[s + 1]) * t + c[s + 2]) * t + c[s + 3] - x;
    const dy = ((c[s + 4] * t + c[s + 5]) * t + c[s + 6]) * t + c[s + 7] - y;
    return dx * dx + dy * dy;
  }

  /** Wrap an arc length in (-L, 2 L) into [0, L). */
  private wrapOnce(arcLength: number): number {
    let wrapped = arcLength;
    if (wrapped < 0) wrapped += this.totalLength;
    if (wrapped >= this.totalLength) wrapped -= this.totalLength;
    return wrapped;
  }
}
