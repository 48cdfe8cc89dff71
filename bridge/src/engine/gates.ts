/** Crossing the gates. */

import type { Gates } from "./geometry.js";

const PARALLEL = 1e-10; // cross product below which move and gate do not meet

/** Whether a move from (x, y) by (dx, dy), in units, crosses a gate in driving direction. */
export function crossesGate(gates: Gates, gate: number, x: number, y: number, dx: number, dy: number): boolean {
  const gateX = gates.rightX[gate] - gates.leftX[gate];
  const gateY = gates.rightY[gate] - gates.leftY[gate];
  const cross = dx * gateY - dy * gateX;
  if (Math.abs(cross) < PARALLEL || dx * gates.directionX[gate] + dy * gates.directionY[gate] <= 0) return false;
  const offsetX = gates.leftX[gate] - x;
  const offsetY = gates.leftY[gate] - y;
  const alongMove = (offsetX * gateY - offsetY * gateX) / cross;
  const alongGate = (offsetX * dy - offsetY * dx) / cross;
  return alongMove >= 0 && alongMove <= 1 && alongGate >= 0 && alongGate <= 1;
}
