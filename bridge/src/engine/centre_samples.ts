/** Even samples of a centre line, and the one nearest to a position. Lengths are in units. */

import type { CentreLine, Vector } from "./centre_line.js";
import { type CellRanges, Grid, RangeCollector } from "./grid.js";
import { SAFETY } from "./numbers.js";
import { boundsOf } from "./walls.js";

const CELL_SIZE = 8;
const MARGIN = 64; // beyond the road's edge; farther out the search looks at every sample
const MAX_REACH = 500; // from the samples; keeps the lists of a road of absurd width small
const MIN_COUNT = 100;
const MAX_SPACING = 2;

/** The samples of one centre line. */
export class CentreSamples {
  readonly count: number;
  /** Arc length from one sample to the next. */
  readonly spacing: number;
  readonly x: Float64Array;
  readonly y: Float64Array;
  private readonly totalLength: number;
  private readonly grid: Grid;
  private readonly ranges: CellRanges;

  constructor(line: CentreLine) {
    this.totalLength = line.totalLength;
    this.count = Math.max(MIN_COUNT, Math.ceil(line.totalLength / MAX_SPACING));
    this.spacing = line.totalLength / this.count;
    const points = Array.from({ length: this.count }, (_, i) => line.pointAt(this.arcLengthOf(i)));
    this.x = Float64Array.from(points, (point) => point.x);
    this.y = Float64Array.from(points, (point) => point.y);
    const widest = line.halfWidths.reduce((a, b) => Math.max(a, b));
    const reach = Math.min(widest + MARGIN, MAX_REACH);
    this.grid = new Grid(boundsOf(this.x, this.y), reach, CELL_SIZE);
    this.ranges = samplesByCell(this.x, this.y, this.grid, reach);
  }

  /** The arc length of a sample, in [0, L). */
  arcLengthOf(sample: number): number {
    return (sample * this.totalLength) / this.count;
  }

  /** The sample nearest to a position, the first of equals. */
  nearest(x: number, y: number): number {
    const { x: sampleX, y: sampleY } = this;
    const { begins, bounds } = this.ranges;
    const cell = this.grid.cellAt(x, y);
    const rangesEnd = begins[cell + 1];
    let best = 0;
    let nearest = Infinity;
    for (let range = begins[cell]; range < rangesEnd; range += 2) {
      const end = bounds[range + 1];
      for (let sample = bounds[range]; sample < end; sample++) {
        const dx = sampleX[sample] - x;
        const dy = sampleY[sample] - y;
        const squared = dx * dx + dy * dy;
        if (squared < nearest) {
          nearest = squared;
          best = sample;
        }
      }
    }
    return best;
  }
}

/**
 * List for each cell the samples that can be the nearest to a position in it: those not farther from its middle than
 * the nearest one plus the cell's diagonal. A list may be too long, never too short: where all samples are farther than
 * `reach` it has all of them, because the lists there would be long and many.
 */
function samplesByCell(x: Float64Array, y: Float64Array, grid: Grid, reach: number): CellRanges {
  const collector = new RangeCollector();
  const diagonal = grid.cellSize * Math.SQRT2 + SAFETY;
  const gap = widestGap(x, y) + SAFETY;
  // Of the cell that was looked from last: the middle, and the sample nearest to it, which is near to the next one's too.
  let lookout: Vector = { x: 0, y: 0 };
  let closest = 0;
  let nearest = 0;
  for (let cell = 0; cell < grid.outside; cell++) {
    const middle = grid.middleOf(cell);
    const moved = Math.sqrt((middle.x - lookout.x) ** 2 + (middle.y - lookout.y) ** 2);
    if (nearest - moved - diagonal > reach) {
      collector.add(0, x.length);
      collector.finishCell();
      continue;
    }
    lookout = middle;
    const distanceOf = (sample: number) => Math.sqrt((x[sample] - middle.x) ** 2 + (y[sample] - middle.y) ** 2);
    nearest = distanceOf(closest);
    // A sample that is too far by many gaps allows to leave out as many samples after it.
    for (let i = 0, distance = 0; i < x.length; i += Math.max(1, Math.floor((distance - nearest) / gap))) {
      distance = distanceOf(i);
      if (distance < nearest) closest = i;
      nearest = Math.min(nearest, distance);
    }
    if (nearest - diagonal > reach) {
      collector.add(0, x.length);
    } else {
      for (let i = 0, excess = 0; i < x.length; i += Math.max(1, Math.floor(excess / gap))) {
        excess = distanceOf(i) - (nearest + diagonal);
        if (excess <= 0) collector.add(i, i + 1);
      }
    }
    collector.finishCell();
  }
  collector.add(0, x.length);
  collector.finishCell();
  return collector.ranges();
}

/** The largest distance between a sample and the next. */
function widestGap(x: Float64Array, y: Float64Array): number {
  let widest = 0;
  for (let i = 0; i < x.length; i++) {
    const next = (i + 1) % x.length;
    widest = Math.max(widest, Math.sqrt((x[next] - x[i]) ** 2 + (y[next] - y[i]) ** 2));
  }
  return widest;
}
