/** What several tests of the engine share: places, tracks, configurations, random numbers. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { InputError } from "../src/checks.js";
import type { ControlPoint } from "../src/engine/centre_line.js";
import { type AiConfig, DEFAULT_CONFIG } from "../src/engine/contract.js";
import { Track } from "../src/engine/track.js";
import { readJson } from "../src/json_file.js";
import { loadPhysics } from "../src/physics_file.js";
import { parseTrack, type TrackFile } from "../src/track_file.js";
import { TrackLibrary } from "../src/tracks.js";

/** The repository's root, which is the first folder above with the physics in it. */
export const PROJECT_ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));

/** The game's recordings, beside the repository; they may be absent. */
export const SHARED_RECORDINGS = join(PROJECT_ROOT, "..", "shared", "golden");

/** The project's own recordings. */
export const RECORDINGS = join(PROJECT_ROOT, "tests", "recordings");

export const PHYSICS_PATH = join(PROJECT_ROOT, "physics.json");
export const PHYSICS = loadPhysics(PHYSICS_PATH);

/** The shipped tracks. */
export const LIBRARY = new TrackLibrary(join(PROJECT_ROOT, "tracks"), PHYSICS);

/** What the recordings were made with. */
export const RECORDING_CONFIG: AiConfig = {
  weights: { ...DEFAULT_CONFIG.weights, speedBonus: 0.01, backwardPenalty: -0.0005 },
  episode: DEFAULT_CONFIG.episode,
};

/** Every weight differs from the others and from 0, so that a mixed-up component shows. */
export const TEST_CONFIG: AiConfig = {
  weights: {
    ...DEFAULT_CONFIG.weights, // for a weight that is not here yet
    progress: 1,
    speedBonus: 0.01,
    wallPenalty: -0.002,
    offTrackPenalty: -0.001,
    backwardPenalty: -0.0005,
    stillnessPenalty: -0.003,
    stillnessSpeedThreshold: 2,
  },
  episode: { maxSteps: 3000, stillnessTimeoutTicks: 180 },
};

/** A track file's content: a ring, counter-clockwise from the right; lengths in units. */
export function ringFile(radius = 200, halfWidth = 20, count = 12, checkpointCount = 30): TrackFile {
  const controlPoints: ControlPoint[] = Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count;
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle), halfWidth };
  });
  return { id: "ring", name: "Ring", checkpointCount, controlPoints };
}

/** A round track of radius 200. */
export function ringTrack(): Track {
  return new Track(ringFile(), PHYSICS);
}

/** A track of the game's recordings. */
export function sharedTrack(id: string): Track {
  const path = join(SHARED_RECORDINGS, `${id}.json`);
  return new Track(parseTrack(readJson(path, "track"), path), PHYSICS);
}

/** Random numbers in [0, 1), the same ones for the same seed: a linear congruential generator. */
export function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** Assert that something throws an InputError of one line that matches. */
export function assertRefused(action: () => unknown, message: RegExp): void {
  assert.throws(action, (error: unknown) => {
    assert.ok(error instanceof InputError, `${error}`);
    assert.match(error.message, message);
    assert.ok(!error.message.includes("\n"), error.message);
    return true;
  });
}

/** A copy of a document with another value under a path of keys; undefined removes the key. */
export function changed(document: unknown, keys: readonly (string | number)[], value: unknown): unknown {
  const copy = structuredClone(document);
  // biome-ignore lint/suspicious/noExplicitAny: the document is JSON, and a wrong path fails the test
  let inner = copy as any;
  for (const key of keys.slice(0, -1)) inner = inner[key];
  const last = keys[keys.length - 1];
  if (value === undefined) delete inner[last];
  else inner[last] = value;
  return copy;
}

function findRoot(folder: string): string {
  return existsSync(join(folder, "physics.json")) ? folder : findRoot(dirname(folder));
}
