/** Track files: checking them, and the library of a folder's tracks. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Checker, InputError, shown } from "./checks.js";
import { CentreLine, type ControlPoint } from "./engine/centre_line.js";
import { TICK_SECONDS } from "./engine/contract.js";
import type { TrackShape } from "./engine/geometry.js";
import { Track } from "./engine/track.js";
import { fingerprintOf } from "./fingerprint.js";
import { readJson } from "./json_file.js";
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

/** What a list of tracks says about each: length of a lap in units, and the fingerprint of the road. */
export interface TrackSummary {
  readonly id: string;
  readonly name: string;
  readonly length: number;
  readonly fingerprint: string;
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

/** Hash what shapes a road: gates and control points, but neither id nor name; 64 hexadecimal digits. */
export function trackFingerprint({ checkpointCount, controlPoints }: TrackFile): string {
  return fingerprintOf({ checkpointCount, controlPoints });
}

/** The tracks of a folder, which all simulations share: files read once, geometry and tables built on first use. */
export class TrackLibrary {
  private readonly files = new Map<string, TrackFile>();
  private readonly summaries: readonly TrackSummary[];
  private readonly tracks = new Map<string, Track>();

  /**
   * Read and check every track file (`*.json`) of a folder.
   *
   * @throws InputError The folder is missing or holds no track, a file is wrong, or two have the same id.
   */
  constructor(
    folder: string,
    private readonly physics: Physics,
  ) {
    const paths = new Map<string, string>();
    for (const path of trackPaths(folder)) {
      const file = parseTrack(readJson(path, "track"), path);
      const other = paths.get(file.id);
      if (other !== undefined) {
        throw new InputError(`${other} and ${path} are both the track ${shown(file.id)}; give every file its own id`);
      }
      checkGateSpacing(file, path, physics);
      paths.set(file.id, path);
      this.files.set(file.id, file);
    }
    this.summaries = this.ids().map((id) => summaryOf(this.file(id)));
  }

  /** The tracks' ids, sorted. */
  ids(): string[] {
    return [...this.files.keys()].sort();
  }

  /** What to say about every track, in order of id. */
  list(): TrackSummary[] {
    return [...this.summaries];
  }

  /** The content of a track's file; throws an InputError when there is no such track. */
  file(id: string): TrackFile {
    const file = this.files.get(id);
    if (file === undefined) throw new InputError(`no track ${shown(id)}; there are: ${this.ids().join(", ")}`);
    return file;
  }

  /** A track to drive on, the same object every time; throws an InputError when there is no such track. */
  track(id: string): Track {
    let track = this.tracks.get(id);
    if (track === undefined) {
      track = new Track(this.file(id), this.physics);
      this.tracks.set(id, track);
    }
    return track;
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

/** Refuse gates so near to each other that a car could pass two in one tick, of which only one would count. */
function checkGateSpacing(file: TrackFile, where: string, physics: Physics): void {
  const length = new CentreLine(file.controlPoints).totalLength;
  const step = physics.maxSpeed * TICK_SECONDS;
  if (length / file.checkpointCount <= step) {
    throw new Checker(where).fail(
      `checkpointCount must be at most ${Math.floor(length / step)} on a lap of ${length.toFixed(0)} units, ` +
        `got ${file.checkpointCount}`,
    );
  }
}

function summaryOf(file: TrackFile): TrackSummary {
  const length = new CentreLine(file.controlPoints).totalLength;
  return { id: file.id, name: file.name, length, fingerprint: trackFingerprint(file) };
}

/** The paths of a folder's track files, in order of name. */
function trackPaths(folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw new InputError(
      isMissing ? `tracks folder not found: ${folder}` : `cannot read tracks folder ${folder}: ${error}`,
    );
  }
  const paths = names.filter((name) => name.endsWith(".json")).sort();
  if (paths.length === 0) throw new InputError(`no track files (*.json) in ${folder}`);
  return paths.map((name) => join(folder, name));
}

function distance(a: ControlPoint, b: ControlPoint): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
