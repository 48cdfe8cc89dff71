/** Draws what a car sees: its rays, and where they meet a wall. */

import { RAY_COUNT } from "../../../bridge/src/engine/contract.js";
import type { Physics } from "../../../bridge/src/physics.js";
import type { Pose } from "../game/poses.js";

const DOT = 3; // CSS pixels

/** Draw a car's rays; the canvas draws in world coordinates already, at a scale. */
export function drawRays(
  context: CanvasRenderingContext2D,
  { x, y, heading }: Pose,
  observation: Float64Array,
  physics: Physics,
  colour: string,
  scale: number,
): void {
  const step = physics.rayFieldOfView / (RAY_COUNT - 1);
  context.strokeStyle = colour;
  context.fillStyle = colour;
  context.lineWidth = 1.5 / scale;
  for (let ray = 0; ray < RAY_COUNT; ray++) {
    const angle = heading - physics.rayFieldOfView / 2 + ray * step;
    const reach = observation[ray] * physics.rayMaxDistance;
    const [toX, toY] = [x + Math.cos(angle) * reach, y + Math.sin(angle) * reach];
    context.globalAlpha = 0.6;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(toX, toY);
    context.stroke();
    context.globalAlpha = 1;
    context.beginPath();
    context.arc(toX, toY, DOT / scale, 0, 2 * Math.PI);
    context.fill();
  }
}
