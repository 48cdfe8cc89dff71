/** The engine against recordings: the project's own, and the game's where its folder is beside the repository. */

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { OBSERVATION_SIZE } from "../src/engine/contract.js";
import type { Polyline } from "../src/engine/geometry.js";
import { Simulation } from "../src/engine/simulation.js";
import type { Track } from "../src/engine/track.js";
import { trackFingerprint } from "../src/tracks.js";
import { LIBRARY, PHYSICS, RECORDING_CONFIG, RECORDINGS, SHARED_RECORDINGS, sharedTrack } from "./engine_helpers.js";
import { type NpyArray, readNpz } from "./npz.js";

const TOLERANCE = 1e-9;
const SHARED_IDS = ["bean", "clover", "ellipse", "kinked", "narrow", "tight", "wide"].map((name) => `golden-${name}`);
const skip = existsSync(SHARED_RECORDINGS) ? false : "the game's recordings (../shared/golden) are not there";

const ACTION_COLUMNS = ["action steer", "action throttle", "action brake"];
const STATE_COLUMNS = ["x", "y", "vx", "vy", "heading", "yawRate", "speed", "steer", "throttle", "brake"] as const;
const PLACE_COLUMNS = ["surface", "lap", "checkpoint"] as const;
const INFO_COLUMNS = ["wallContact", "stillnessCounter"] as const;
const OBSERVATION_COLUMNS = Array.from({ length: OBSERVATION_SIZE }, (_, i) => `observation ${i}`);
const COMPONENTS = ["progress", "speed", "wall", "offTrack", "backward", "stillness"] as const;
const END_COLUMNS = ["terminated", "truncated"] as const;
const COLUMNS = [
  ...ACTION_COLUMNS,
  ...STATE_COLUMNS,
  ...PLACE_COLUMNS,
  ...INFO_COLUMNS,
  ...OBSERVATION_COLUMNS,
  ...COMPONENTS.map((name) => `${name} reward`),
  "reward",
  ...END_COLUMNS,
];
const DISCRETE_COLUMNS = new Set<string>([...PLACE_COLUMNS, ...INFO_COLUMNS, ...END_COLUMNS]);

test("the project's recordings are of the shipped tracks and physics", () => {
  for (const id of LIBRARY.ids()) {
    const content = readNpz(join(RECORDINGS, `${id}.npz`));
    assert.equal(arrayOf(content, "physics_fingerprint").strings[0], PHYSICS.fingerprint);
    assert.equal(arrayOf(content, "track_fingerprint").strings[0], trackFingerprint(LIBRARY.file(id)));
  }
});

for (const id of LIBRARY.ids()) {
  test(`the project's recording on ${id} replays`, (context) => {
    const worst = assertReplays(LIBRARY.track(id), readNpz(join(RECORDINGS, `${id}.npz`)), "");
    context.diagnostic(`largest difference ${worst.toExponential(1)}`);
  });
}

test("every recording of the game's is known here", { skip }, () => {
  const files = readdirSync(SHARED_RECORDINGS).filter((name) => name.endsWith(".npz"));
  assert.deepEqual(
    files.sort(),
    SHARED_IDS.map((id) => `${id}.npz`),
  );
});

for (const id of SHARED_IDS) {
  test(`the game's recordings on ${id} replay`, { skip }, (context) => {
    const track = sharedTrack(id);
    const content = readNpz(join(SHARED_RECORDINGS, `${id}.npz`));
    const prefixes = [...content.keys()]
      .filter((name) => name.endsWith("/ticks"))
      .map((name) => name.slice(0, -"ticks".length));
    assert.ok(prefixes.length >= 6, `only ${prefixes.length} episodes`);
    const worst = prefixes.map((prefix) => assertReplays(track, content, prefix));
    context.diagnostic(`${prefixes.length} episodes, largest difference ${Math.max(...worst).toExponential(1)}`);
  });

  test(`the geometry of ${id} is the game's`, { skip }, (context) => {
    const content = readNpz(join(SHARED_RECORDINGS, `${id}.npz`));
    let worst = 0;
    for (const [name, actual] of Object.entries(geometryArrays(sharedTrack(id)))) {
      const expected = arrayOf(content, name).numbers;
      assert.equal(actual.length, expected.length, name);
      for (const [i, value] of actual.entries()) {
        const difference = Math.abs(value - expected[i]);
        assert.ok(difference <= TOLERANCE, `${name}: number ${i} is ${value}, recorded ${expected[i]}`);
        worst = Math.max(worst, difference);
      }
    }
    context.diagnostic(`largest difference ${worst.toExponential(1)}`);
  });
}

/** Replay one episode and compare every tick; returns the largest difference. */
function assertReplays(track: Track, content: Map<string, NpyArray>, prefix: string): number {
  const simulation = new Simulation(track, RECORDING_CONFIG, 1);
  const first = arrayOf(content, `${prefix}first_observation`).numbers;
  assert.equal(first.length, OBSERVATION_SIZE);
  let worst = assertSameRow(simulation.observations, first, OBSERVATION_COLUMNS, `${prefix}first observation`);

  const { numbers, shape } = arrayOf(content, `${prefix}ticks`);
  assert.equal(shape[1], COLUMNS.length);
  assert.ok(shape[0] > 0);
  for (let tick = 0; tick < shape[0]; tick++) {
    const row = numbers.subarray(tick * COLUMNS.length, (tick + 1) * COLUMNS.length);
    const action = row.slice(0, ACTION_COLUMNS.length);
    simulation.step(action);
    worst = Math.max(worst, assertSameRow(tickRow(simulation, action), row, COLUMNS, `${prefix}tick ${tick}`));
  }
  return worst;
}

function assertSameRow(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  columns: readonly string[],
  what: string,
): number {
  let worst = 0;
  for (const [i, column] of columns.entries()) {
    const difference = Math.abs(actual[i] - expected[i]);
    // NaN is never within the tolerance.
    const isSame = difference <= (DISCRETE_COLUMNS.has(column) ? 0 : TOLERANCE);
    if (!isSame) assert.fail(`${what}: ${column} is ${actual[i]}, recorded ${expected[i]}`);
    worst = Math.max(worst, difference);
  }
  return worst;
}

/** The tick that the only car has just made, in the recordings' columns. */
function tickRow({ cars, infos, observations, rewards, terminated, truncated }: Simulation, action: Float64Array) {
  return [
    ...action,
    ...STATE_COLUMNS.map((name) => cars[name][0]),
    ...PLACE_COLUMNS.map((name) => cars[name][0]),
    ...INFO_COLUMNS.map((name) => infos[name][0]),
    ...observations,
    ...COMPONENTS.map((name) => infos[name][0]),
    rewards[0],
    terminated[0],
    truncated[0],
  ];
}

/** A track's geometry in the recordings' arrays. */
function geometryArrays({ geometry }: Track): Record<string, number[]> {
  const { gates, start } = geometry;
  const points = ({ x, y }: Polyline) => Array.from(x, (value, i) => [value, y[i]]).flat();
  return {
    total_length: [geometry.totalLength],
    start: [start.x, start.y, start.heading],
    inner_wall: points(geometry.innerWall),
    outer_wall: points(geometry.outerWall),
    inner_road_edge: points(geometry.innerRoadEdge),
    outer_road_edge: points(geometry.outerRoadEdge),
    gates: Array.from({ length: gates.count }, (_, i) => [
      ...[gates.leftX[i], gates.leftY[i], gates.rightX[i], gates.rightY[i], gates.centreX[i], gates.centreY[i]],
      ...[gates.directionX[i], gates.directionY[i], gates.arcLength[i]],
    ]).flat(),
  };
}

function arrayOf(content: Map<string, NpyArray>, name: string): NpyArray {
  const array = content.get(name);
  assert.ok(array !== undefined, `the recording has no ${name}`);
  return array;
}
