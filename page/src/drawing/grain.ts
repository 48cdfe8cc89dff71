/** Grain on the ground, so that one feels speed: specks in cells that repeat, and mown stripes. */

import type { Box } from "./view.js";

const CELL = 96; // units
const SPECKS = 24; // of each colour in a cell
const STRIPE = 16; // units
const FINEST = 1.6; // pixels per unit, below which specks are too small to be seen
const SEED = 7;

const LIGHT = specks(SEED);
const DARK = specks(SEED + 1);

/** Draw stripes over what a box shows; the canvas draws in world coordinates already. */
export function drawStripes(context: CanvasRenderingContext2D, { left, bottom, right, top }: Box): void {
  context.fillStyle = "rgb(255 255 255 / 0.05)";
  for (let x = Math.floor(left / (2 * STRIPE)) * 2 * STRIPE; x < right; x += 2 * STRIPE) {
    context.fillRect(x, bottom, STRIPE, top - bottom);
  }
}

/** Draw specks over what a box shows, at a scale in pixels per unit. */
export function drawSpecks(context: CanvasRenderingContext2D, { left, bottom, right, top }: Box, scale: number): void {
  if (scale < FINEST) return;
  for (let row = Math.floor(bottom / CELL); row * CELL < top; row++) {
    for (let column = Math.floor(left / CELL); column * CELL < right; column++) {
      context.save();
      context.translate(column * CELL, row * CELL);
      context.fillStyle = "rgb(0 0 0 / 0.16)";
      context.fill(DARK);
      context.fillStyle = "rgb(255 255 255 / 0.12)";
      context.fill(LIGHT);
      context.restore();
    }
  }
}

/** Specks of one colour in a cell, the same on every visit. */
function specks(seed: number): Path2D {
  const random = randomNumbers(seed);
  const path = new Path2D();
  for (let speck = 0; speck < SPECKS; speck++) {
    path.rect(random() * CELL, random() * CELL, 0.4 + random() * 0.7, 0.4 + random() * 0.7);
  }
  return path;
}

/** Numbers in [0, 1). Source: Numerical Recipes, a linear congruential generator. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
