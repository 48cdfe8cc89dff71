/** Where an episode starts: at rest on the line, or on the move anywhere along the track. */

import type { Placement } from "./contract.js";
import type { Gates, TrackGeometry } from "./geometry.js";

/** A start as it is asked for: null is at rest on the line. */
export type Start = Placement | null;

/** A car's state at the start of an episode; everything else is 0. */
export interface StartState {
  /** units */
  readonly x: number;
  readonly y: number;
  /** radians */
  readonly heading: number;
  /** units/s along the heading */
  readonly speed: number;
  /** the gate passed last */
  readonly checkpoint: number;
  /** 1 on the first lap; 0 on an out-lap, whose first crossing of the line begins lap 1 and completes none */
  readonly lap: number;
}

/** The state that a start stands for. */
export function startState(geometry: TrackGeometry, start: Start): StartState {
  return start === null ? standingStart(geometry) : startAt(geometry, ...start);
}

/** The start that the game gives: at rest on the line. */
function standingStart(geometry: TrackGeometry): StartState {
  return { ...geometry.start, speed: 0, checkpoint: 0, lap: 1 };
}

function startAt(
  geometry: TrackGeometry,
  arcLength: number,
  lateral: number,
  heading: number,
  speed: number,
): StartState {
  const line = geometry.centreLine;
  const distance = line.wrap(arcLength);
  const centre = line.pointAt(distance);
  const tangent = line.unitTangentAt(distance);
  const x = centre.x - lateral * tangent.y;
  const y = centre.y + lateral * tangent.x;
  return {
    x,
    y,
    heading: Math.atan2(tangent.y, tangent.x) + heading,
    speed,
    checkpoint: lastGate(geometry, distance, x, y),
    lap: 0,
  };
}

/**
 * The gate behind a position near an arc length in [0, L).
 *
 * Gates stand askew in places, so arc length alone may name one that the car is already past, or not yet.
 */
function lastGate({ gates, totalLength }: TrackGeometry, arcLength: number, x: number, y: number): number {
  const last = Math.floor((arcLength / totalLength) * gates.count) % gates.count;
  const following = (last + 1) % gates.count;
  if (isPast(gates, following, x, y)) return following;
  return isPast(gates, last, x, y) ? last : (last + gates.count - 1) % gates.count;
}

/** Whether a position near a gate lies on its far side, in driving direction. */
function isPast(gates: Gates, gate: number, x: number, y: number): boolean {
  const acrossX = gates.rightX[gate] - gates.leftX[gate];
  const acrossY = gates.rightY[gate] - gates.leftY[gate];
  const forward = acrossX * gates.directionY[gate] - acrossY * gates.directionX[gate];
  const side = acrossX * (y - gates.leftY[gate]) - acrossY * (x - gates.leftX[gate]);
  return side * forward > 0;
}
