/** A track's centre line: a closed centripetal Catmull-Rom spline with its arc-length table. Lengths are in units. */

import { SAFETY } from "./numbers.js";

/** A point, or a direction; units where it is a point. */
export interface Vector {
  readonly x: number;
  readonly y: number;
}

/** A point that the centre line goes through. */
export interface ControlPoint extends Vector {
  /** half of the road's width there */
  readonly halfWidth: number;
}

/** Chords that measure one segment of the spline. */
export const CHORDS_PER_SEGMENT = 20;

/** Numbers that `CentreLine.coefficients` holds for each segment. */
export const COEFFICIENTS_PER_SEGMENT = 8;

/** Units below which a chord is not interpolated. */
export const MIN_CHORD = 1e-10;

const BINS_PER_CHORD = 2; // of the table from arc length to chord
const MIN_KNOT_INTERVAL = 1e-10; // a shorter one counts as 1

/**
 * The spline through the control points.
 *
 * Source: Catmull and Rom (1974); centripetal parametrisation after Yuksel, Schaefer and Keyser (2011).
 */
export class CentreLine {
  /** Number of segments, n, one from each control point to the next. */
  readonly segmentCount: number;
  /** (n, 8): per segment the cubic, quadratic, linear and constant term of x, then of y, in t from 0 to 1. */
  readonly coefficients: Float64Array;
  /** (20 n + 1,): cumulative chord length at parameter 0, 1/20, ..., n. */
  readonly lengths: Float64Array;
  /** (n + 1,): half-width at each control point, and at the first one again. */
  readonly halfWidths: Float64Array;
  /** (n,): growth of the half-width per arc length, from each control point to the next. */
  private readonly halfWidthSlopes: Float64Array;
  /** Length of a lap. */
  readonly totalLength: number;
  /** By bin of arc length: the last chord that begins before the bin. */
  private readonly binChords: Int32Array;
  private readonly binsPerUnit: number;

  constructor(points: readonly ControlPoint[]) {
    this.segmentCount = points.length;
    this.coefficients = hermiteCoefficients(points);
    this.halfWidths = Float64Array.from([...points, points[0]], (point) => point.halfWidth);
    this.lengths = this.measure();
    this.totalLength = this.lengths[this.lengths.length - 1];
    this.halfWidthSlopes = Float64Array.from({ length: this.segmentCount }, (_, i) => {
      const span = this.lengths[(i + 1) * CHORDS_PER_SEGMENT] - this.lengths[i * CHORDS_PER_SEGMENT];
      return (this.halfWidths[i + 1] - this.halfWidths[i]) / (span > 0 ? span : 1);
    });
    const bins = this.segmentCount * CHORDS_PER_SEGMENT * BINS_PER_CHORD;
    this.binsPerUnit = bins / this.totalLength;
    let chord = 0;
    this.binChords = Int32Array.from({ length: bins + 1 }, (_, bin) => {
      while (this.lengths[chord + 1] <= bin / this.binsPerUnit - SAFETY) chord++;
      return chord;
    });
  }

  /** Wrap an arc length into [0, totalLength). */
  wrap(distance: number): number {
    if (distance >= 0 && distance < this.totalLength) return distance; // faster than the remainder
    let wrapped = distance % this.totalLength;
    if (wrapped < 0) wrapped += this.totalLength;
    return wrapped >= this.totalLength ? 0 : wrapped;
  }

  /** The point at an arc length of any value. */
  pointAt(distance: number): Vector {
    return this.pointAtParameter(this.parameterAt(distance));
  }

  /** The unit tangent at an arc length of any value. */
  unitTangentAt(distance: number): Vector {
    const parameter = this.parameterAt(distance);
    const whole = Math.floor(parameter);
    const t = parameter - whole;
    const c = this.coefficients;
    const s = (whole % this.segmentCount) * COEFFICIENTS_PER_SEGMENT;
    const x = (3 * c[s] * t + 2 * c[s + 1]) * t + c[s + 2];
    const y = (3 * c[s + 4] * t + 2 * c[s + 5]) * t + c[s + 6];
    const length = Math.sqrt(x * x + y * y);
    return { x: x / length, y: y / length };
  }

  /** Half of the road's width at an arc length of any value, linear between control points. */
  halfWidthAt(distance: number): number {
    const d = this.wrap(distance);
    const segment = Math.floor(this.chordAt(d) / CHORDS_PER_SEGMENT);
    const start = this.lengths[segment * CHORDS_PER_SEGMENT];
    return this.halfWidths[segment] + this.halfWidthSlopes[segment] * (d - start);
  }

  /** The last chord that begins at or before an arc length in [0, totalLength). */
  chordAt(distance: number): number {
    let chord = this.binChords[(distance * this.binsPerUnit) | 0];
    while (this.lengths[chord + 1] <= distance) chord++;
    return chord;
  }

  /** The parameter in [0, n] at an arc length of any value. */
  private parameterAt(distance: number): number {
    const d = this.wrap(distance);
    const low = this.chordAt(d);
    const chord = this.lengths[low + 1] - this.lengths[low];
    const share = chord < MIN_CHORD ? 0 : (d - this.lengths[low]) / chord;
    return (low + share) / CHORDS_PER_SEGMENT;
  }

  private pointAtParameter(parameter: number): Vector {
    const whole = Math.floor(parameter);
    const t = parameter - whole;
    const c = this.coefficients;
    const s = (whole % this.segmentCount) * COEFFICIENTS_PER_SEGMENT;
    return {
      x: ((c[s] * t + c[s + 1]) * t + c[s + 2]) * t + c[s + 3],
      y: ((c[s + 4] * t + c[s + 5]) * t + c[s + 6]) * t + c[s + 7],
    };
  }

  private measure(): Float64Array {
    const lengths = new Float64Array(this.segmentCount * CHORDS_PER_SEGMENT + 1);
    let previous = this.pointAtParameter(0);
    for (let k = 1; k < lengths.length; k++) {
      const point = this.pointAtParameter(k / CHORDS_PER_SEGMENT);
      const dx = point.x - previous.x;
      const dy = point.y - previous.y;
      lengths[k] = lengths[k - 1] + Math.sqrt(dx * dx + dy * dy);
      previous = point;
    }
    return lengths;
  }
}

function hermiteCoefficients(points: readonly Vector[]): Float64Array {
  const n = points.length;
  const coefficients = new Float64Array(n * COEFFICIENTS_PER_SEGMENT);
  for (let i = 0; i < n; i++) {
    const [p0, p1, p2, p3] = [points[(i + n - 1) % n], points[i], points[(i + 1) % n], points[(i + 2) % n]];
    const [a, b, c] = [knotInterval(p0, p1), knotInterval(p1, p2), knotInterval(p2, p3)];
    const along = (axis: "x" | "y"): number[] => {
      const [q0, q1, q2, q3] = [p0[axis], p1[axis], p2[axis], p3[axis]];
      const m1 = ((q1 - q0) / a - (q2 - q0) / (a + b) + (q2 - q1) / b) * b;
      const m2 = ((q2 - q1) / b - (q3 - q1) / (b + c) + (q3 - q2) / c) * b;
      return [2 * q1 - 2 * q2 + m1 + m2, -3 * q1 + 3 * q2 - 2 * m1 - m2, m1, q1];
    };
    coefficients.set([...along("x"), ...along("y")], i * COEFFICIENTS_PER_SEGMENT);
  }
  return coefficients;
}

function knotInterval(start: Vector, end: Vector): number {
  const dx = end.x - start.x;
  const dy = end.y - start.y;
  const interval = Math.sqrt(Math.sqrt(dx * dx + dy * dy)); // the last bit of ** 0.25 depends on the release of Node.js
  return interval < MIN_KNOT_INTERVAL ? 1 : interval;
}
