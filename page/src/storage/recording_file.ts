/** Recordings as JSON files: what `training.watch --replay` and `training.evaluate --replay` take, and write. */

import { Checker, InputError } from "../../../bridge/src/checks.js";
import { ACTION_SIZE } from "../../../bridge/src/engine/contract.js";
import type { StartState } from "../../../bridge/src/engine/starts.js";
import type { PageData, TrackEntry } from "../data.js";
import { type Drive, type LapPath, Replay } from "../game/recorder.js";
import type { LoadedTrack } from "../loading.js";

const FORMAT = 1;
const MAX_TICKS = 2_000_000; // as in the toolkit; more than nine hours
const TOLERANCE = 1e-6; // of a state, as in the toolkit
const KEYS = ["format", "driver", "physics_fingerprint", "track_fingerprint", "track", "start", "actions", "end"];
const STATE_KEYS = ["x", "y", "heading", "speed", "checkpoint", "lap"] as const;

/** A drive with its driver's name. */
export interface Recording {
  readonly driver: string;
  readonly drive: Drive;
}

/** A recording whose best lap is known. */
export interface RecordedLap {
  readonly recording: Recording;
  readonly path: LapPath;
}

/** The text of a recording's file. */
export function recordingText({ driver, drive }: Recording, { entry, file }: LoadedTrack, page: PageData): string {
  const actions: number[][] = [];
  for (let first = 0; first < drive.actions.length; first += ACTION_SIZE) {
    actions.push([...drive.actions.subarray(first, first + ACTION_SIZE)]);
  }
  return JSON.stringify({
    format: FORMAT,
    driver,
    physics_fingerprint: page.physicsFingerprint,
    track_fingerprint: entry.fingerprint,
    track: file,
    start: drive.start,
    actions,
    end: drive.end,
  });
}

/**
 * Read a recording's file, as far as that goes without its track.
 *
 * @returns The recording, and the entry of the page's track that it was driven on.
 * @throws InputError It is damaged or none, of other physics, or of a track that the page does not have.
 */
export function parseRecording(text: string, page: PageData): { recording: Recording; entry: TrackEntry } {
  const check = new Checker("The recording cannot be loaded");
  const content = check.object(parsed(text, check), "it", [...KEYS, "ai_config"], KEYS);
  check.integer(content.format, "format", FORMAT, FORMAT);
  if (content.physics_fingerprint !== page.physicsFingerprint) {
    throw check.fail("it was driven on other physics than this page has, on which it would drive differently");
  }
  const entry = page.tracks.find(({ fingerprint }) => fingerprint === content.track_fingerprint);
  if (entry === undefined) throw check.fail("it was driven on a track that this page does not have");
  const rows = check.list(content.actions, "actions");
  if (rows.length === 0 || rows.length > MAX_TICKS) {
    throw check.fail(`actions must hold 1 to ${MAX_TICKS} ticks, got ${rows.length}`);
  }
  const actions = new Float64Array(rows.length * ACTION_SIZE);
  for (const [tick, row] of rows.entries()) {
    const numbers = check.list(row, `actions[${tick}]`, ACTION_SIZE);
    for (const [i, value] of numbers.entries()) {
      actions[tick * ACTION_SIZE + i] = check.number(value, `actions[${tick}][${i}]`);
    }
  }
  const drive = {
    start: parseState(check, content.start, "start"),
    end: parseState(check, content.end, "end"),
    actions,
  };
  return { recording: { driver: check.text(content.driver, "driver"), drive }, entry };
}

/**
 * Drive a recording again, and find its best lap.
 *
 * @throws InputError It drives differently here, or holds no completed lap.
 */
export function bestLapOf(recording: Recording, { track }: LoadedTrack): RecordedLap {
  const { start, end } = recording.drive;
  const { geometry, physics } = track;
  if (start.checkpoint >= geometry.gates.count || start.speed > physics.maxSpeed) {
    throw new InputError("The recording cannot be loaded: its start is no state of a car.");
  }
  const replay = new Replay(track, recording.drive);
  if (STATE_KEYS.some((key) => !(Math.abs(replay.end[key] - end[key]) <= TOLERANCE))) {
    throw new InputError("The recording drives differently here than where it was made, so it is not used.");
  }
  const lap = replay.best;
  if (lap === null) throw new InputError("The recording holds no completed lap.");
  return { recording, path: replay.path(lap) };
}

function parsed(text: string, check: Checker): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw check.fail("it is damaged, or no recording of a drive as JSON");
  }
}

function parseState(check: Checker, value: unknown, key: string): StartState {
  const content = check.object(value, key, STATE_KEYS, STATE_KEYS);
  const far = 1e6; // units and radians; farther there is no track
  return {
    x: check.number(content.x, `${key}.x`, -far, far),
    y: check.number(content.y, `${key}.y`, -far, far),
    heading: check.number(content.heading, `${key}.heading`, -far, far),
    speed: check.number(content.speed, `${key}.speed`, 0),
    checkpoint: check.integer(content.checkpoint, `${key}.checkpoint`, 0),
    lap: check.integer(content.lap, `${key}.lap`, 0),
  };
}
