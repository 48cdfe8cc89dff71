/** Textures, drawn once: enough grain to feel speed. */

const SIZE = 256; // pixels
export const UNITS = 64; // of the world that a texture covers before it repeats

/** Speckles over a colour: asphalt. */
export function asphalt(colour: string): HTMLCanvasElement {
  return textured(colour, (context, random) => {
    speckle(context, random, 2600, 1.4, ["rgb(0 0 0 / 0.10)", "rgb(255 255 255 / 0.07)"]);
    speckle(context, random, 160, 4, ["rgb(0 0 0 / 0.05)", "rgb(255 255 255 / 0.04)"]);
  });
}

/** Mown stripes and tufts over a colour: grass. */
export function grass(colour: string): HTMLCanvasElement {
  return textured(colour, (context, random) => {
    context.fillStyle = "rgb(255 255 255 / 0.045)";
    for (let stripe = 0; stripe < 2; stripe++) context.fillRect(stripe * (SIZE / 2), 0, SIZE / 4, SIZE);
    speckle(context, random, 1500, 2.4, ["rgb(0 0 0 / 0.13)", "rgb(255 255 190 / 0.08)"]);
  });
}

/** Tufts and pebbles over a colour: what lies between road and wall. */
export function gravel(colour: string): HTMLCanvasElement {
  return textured(colour, (context, random) => {
    speckle(context, random, 1200, 2, ["rgb(0 0 0 / 0.12)", "rgb(255 255 255 / 0.09)"]);
  });
}

type Draw = (context: CanvasRenderingContext2D, random: () => number) => void;

function textured(colour: string, draw: Draw): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = SIZE;
  canvas.height = SIZE;
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("this browser draws no pictures: it has no 2D canvas");
  context.fillStyle = colour;
  context.fillRect(0, 0, SIZE, SIZE);
  draw(context, randomNumbers());
  return canvas;
}

function speckle(
  context: CanvasRenderingContext2D,
  random: () => number,
  count: number,
  size: number,
  colours: readonly string[],
): void {
  for (let i = 0; i < count; i++) {
    context.fillStyle = colours[i % colours.length];
    context.fillRect(random() * SIZE, random() * SIZE, 0.5 + random() * size, 0.5 + random() * size);
  }
}

/** Numbers in [0, 1), the same on every visit. Source: Numerical Recipes, a linear congruential generator. */
export function randomNumbers(seed = 1): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
