/** Walls cut into stretches, so that a look-up table's size depends on their length, not on how dense their points are. */

import type { Walls } from "./walls.js";

const MAX_LENGTH = 4; // units, on average, of stretches of more than one segment
const COUNT_BITS = 8; // of a stretch's number, that hold how many segments it has
const MAX_COUNT = 2 ** COUNT_BITS - 1;

/**
 * Runs of neighbouring segments of one wall.
 *
 * A stretch is one number: of a single segment the segment's; of more a negative one, from which `firstPoint` and
 * `lastPoint` are told.
 */
export interface Stretches {
  /** The inner wall's, in order. */
  readonly inner: Int32Array;
  /** The outer wall's, in order. */
  readonly outer: Int32Array;
  /** Length of the longest, along its segments. */
  readonly longest: number;
}

/** Cut each wall into stretches of equally many segments, as those of one wall are about equally long. */
export function stretchesOf({ x, y, innerEnd }: Walls): Stretches {
  const lengthOf = (first: number, last: number) => {
    let length = 0;
    for (let i = first; i < last; i++) length += Math.sqrt((x[i + 1] - x[i]) ** 2 + (y[i + 1] - y[i]) ** 2);
    return length;
  };
  let longest = 0;
  const cut = (begin: number, end: number): Int32Array => {
    const mean = lengthOf(begin, end) / (end - begin);
    const count = Math.floor(Math.min(Math.max(MAX_LENGTH / mean, 1), MAX_COUNT));
    return Int32Array.from({ length: Math.ceil((end - begin) / count) }, (_, index) => {
      const first = begin + index * count;
      const last = Math.min(first + count, end);
      longest = Math.max(longest, lengthOf(first, last));
      return stretchOf(first, last - first);
    });
  };
  return { inner: cut(0, innerEnd), outer: cut(innerEnd + 1, x.length - 1), longest };
}

/** The point at which a stretch begins. */
export function firstPoint(stretch: number): number {
  return stretch < 0 ? ~stretch >> COUNT_BITS : stretch;
}

/** The point at which a stretch ends. */
export function lastPoint(stretch: number): number {
  return stretch < 0 ? (~stretch >> COUNT_BITS) + (~stretch & MAX_COUNT) : stretch + 1;
}

function stretchOf(first: number, count: number): number {
  return count === 1 ? first : ~((first << COUNT_BITS) | count);
}
