/** Draws a car: body, wings, cockpit, wheels of which the front ones turn, and its shadow. */

import type { Pose } from "../game/poses.js";
import { BRAKE_LIGHT, GLASS, TYRE } from "./palette.js";

export const LENGTH = 4; // units at scale 1; the game only defines the width, 2 units
const FRONT = 1.25;
const REAR = -1.3;
const TRACK = 0.92; // units from the middle to a wheel

const BODY = mirrored([
  [2.0, 0.35],
  [1.3, 0.62],
  [0.5, 0.72],
  [-0.4, 0.95],
  [-1.7, 0.95],
  [-2.0, 0.7],
]);
const COCKPIT = mirrored([
  [0.55, 0.34],
  [-0.15, 0.46],
  [-0.8, 0.4],
]);
const STRIPE = mirrored([
  [1.9, 0.12],
  [0.6, 0.14],
]);
const FRONT_WING = mirrored([
  [2.05, 0.95],
  [1.72, 0.95],
]);
const REAR_WING = mirrored([
  [-1.75, 0.9],
  [-2.1, 0.9],
]);
const WHEEL = mirrored([
  [0.42, 0.22],
  [-0.42, 0.22],
]);
const SHADOW = mirrored([
  [2.1, 0.9],
  [0.5, 1.1],
  [-2.1, 1.1],
]);

/** How a car looks. */
export interface CarLook {
  readonly colour: string;
  /** Times its size in the world; seen from far above, cars are drawn enlarged. */
  readonly size: number;
  /** Of the front wheels from the heading, in radians, counter-clockwise. */
  readonly wheelAngle: number;
  /** 1 is solid. */
  readonly opacity: number;
  readonly isBraking: boolean;
}

/** Draw a car; the canvas draws in world coordinates already. */
export function drawCar(context: CanvasRenderingContext2D, { x, y, heading }: Pose, look: CarLook): void {
  context.save();
  context.globalAlpha = look.opacity;
  context.save();
  context.translate(x + 0.4 * look.size, y - 0.55 * look.size);
  turn(context, heading, look.size);
  context.fillStyle = "rgb(0 0 0 / 0.35)";
  context.fill(SHADOW);
  context.restore();
  context.translate(x, y);
  turn(context, heading, look.size);
  context.fillStyle = TYRE;
  for (const side of [TRACK, -TRACK]) {
    wheel(context, FRONT, side, look.wheelAngle);
    wheel(context, REAR, side, 0);
  }
  context.fill(FRONT_WING);
  context.fillStyle = look.colour;
  context.fill(BODY);
  context.lineWidth = 0.12;
  context.strokeStyle = "rgb(0 0 0 / 0.45)";
  context.stroke(BODY);
  context.fillStyle = "rgb(255 255 255 / 0.75)";
  context.fill(STRIPE);
  context.fillStyle = GLASS;
  context.fill(COCKPIT);
  context.fillStyle = look.isBraking ? BRAKE_LIGHT : TYRE;
  context.fill(REAR_WING);
  context.restore();
}

function turn(context: CanvasRenderingContext2D, angle: number, size: number): void {
  context.rotate(angle);
  context.scale(size, size);
}

function wheel(context: CanvasRenderingContext2D, x: number, y: number, angle: number): void {
  context.save();
  context.translate(x, y);
  context.rotate(angle);
  context.fill(WHEEL);
  context.restore();
}

function mirrored(half: readonly [number, number][]): Path2D {
  const path = new Path2D();
  for (const [x, y] of half) path.lineTo(x, y);
  for (const [x, y] of [...half].reverse()) path.lineTo(x, -y);
  path.closePath();
  return path;
}
