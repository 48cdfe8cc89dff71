/** Track files: the checks of their content. It reads no files itself, so that a browser can run it as well. */

import { Checker } from "./checks.js";
import { CentreLine, type ControlPoint } from "./engine/centre_line.js";
import { TICK_SECONDS } from "./engine/contract.js";
import type { TrackShape } from "./engine/geometry.js";
import type { Physics } from "./physics.js";

const MIN_POINTS = 3;
const MAX_POINTS = 1_000; // as in the toolkit, whose tables can hold no more
const MIN_POINT_DISTANCE = 1e-6; // units; nearer control points are duplicates
const MAX_LENGTH = 15_000; // units; of the polygon through the control points, and of a half-width

/** The content of a track file; lengths in units. */
export interface TrackFile extends TrackShape {
  readonly id: string;
  readonly name: string;
}

/**
 * Check a parsed track file.
 *
 * @param document The parsed JSON document.
 * @param where Its name in error messages, a path for example.
 * @throws InputError Keys, types or numbers are wrong, or the track is too long.
 */
export function parseTrack(document: unknown, where: string): TrackFile {
  const check = new Checker(where);
  const keys = ["id", "name", "checkpointCount", "controlPoints"];
  const content = check.object(document, "the track", keys, keys);
  return {
    id: check.text(content.id, "id"),
    name: check.text(content.name, "name"),
    checkpointCount: check.integer(content.checkpointCount, "checkpointCount", 2),
    controlPoints: parseControlPoints(check, content.controlPoints),
  };
}

/**
 * Refuse gates so near to each other that a car could pass two in one tick, of which only one would count.
 *
 * @throws InputError There are too many gates for the length of the track.
 */
export function checkGateSpacing(file: TrackFile, where: string, physics: Physics): void {
  const length = new CentreLine(file.controlPoints).totalLength;
  const step = physics.maxSpeed * TICK_SECONDS;
  if (length / file.checkpointCount <= step) {
    throw new Checker(where).fail(
      `checkpointCount must be at most ${Math.floor(length / step)} on a lap of ${length.toFixed(0)} units, ` +
        `got ${file.checkpointCount}`,
    );
  }
}

function parseControlPoints(check: Checker, value: unknown): ControlPoint[] {
  const entries = check.list(value, "controlPoints");
  if (entries.length < MIN_POINTS || entries.length > MAX_POINTS) {
    throw check.fail(`controlPoints must hold ${MIN_POINTS} to ${MAX_POINTS} points, got ${entries.length}`);
  }
  const points = entries.map((entry, index) => parseControlPoint(check, entry, `controlPoints[${index}]`));
  checkDuplicates(check, points);
  checkLength(check, points);
  return points;
}

function parseControlPoint(check: Checker, value: unknown, key: string): ControlPoint {
  const names = ["x", "y", "halfWidth"];
  const point = check.object(value, key, names, names);
  const halfWidth = check.number(point.halfWidth, `${key}.halfWidth`);
  if (halfWidth <= 0 || halfWidth > MAX_LENGTH) {
    throw check.fail(`${key}.halfWidth must be above 0 and at most ${MAX_LENGTH}, got ${halfWidth}`);
  }
  return { x: check.number(point.x, `${key}.x`), y: check.number(point.y, `${key}.y`), halfWidth };
}

/** Refuse points that repeat another, as the closing point of a loop often does. */
function checkDuplicates(check: Checker, points: readonly ControlPoint[]): void {
  for (const [index, point] of points.entries()) {
    const first = points.findIndex((other) => distance(point, other) < MIN_POINT_DISTANCE);
    if (first < index) {
      throw check.fail(
        `controlPoints[${index}] repeats controlPoints[${first}]; the loop closes by itself, remove one`,
      );
    }
  }
}

function checkLength(check: Checker, points: readonly ControlPoint[]): void {
  const length = points.reduce((sum, point, index) => sum + distance(point, points[(index + 1) % points.length]), 0);
  if (length > MAX_LENGTH) throw check.fail(`the track is ${Math.round(length)} units long; the most is ${MAX_LENGTH}`);
}

function distance(a: ControlPoint, b: ControlPoint): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
