import assert from "node:assert/strict";
import { test } from "node:test";
import { crossesGate } from "../src/engine/gates.js";
import { startState } from "../src/engine/starts.js";
import { LIBRARY, ringTrack } from "./engine_helpers.js";

const { geometry } = ringTrack();

test("null is at rest on the line, on lap 1", () => {
  assert.deepEqual(startState(geometry, null), { ...geometry.start, speed: 0, checkpoint: 0, lap: 1 });
});

test("a start elsewhere is to the left of the centre line, turned, on the out-lap", () => {
  const { x, y, heading, speed, lap } = startState(geometry, [0, 5, 0.25, 60]);
  assert.ok(Math.abs(x - 195) < 1e-9);
  assert.ok(Math.abs(y) < 1e-9);
  assert.ok(Math.abs(heading - (geometry.start.heading + 0.25)) < 1e-12);
  assert.deepEqual([speed, lap], [60, 0]);
});

test("the gate behind a start is its last one, on every shipped track", () => {
  for (const id of LIBRARY.ids()) {
    const { geometry: shipped } = LIBRARY.track(id);
    const spacing = shipped.totalLength / shipped.gates.count;
    for (let gate = 0; gate < shipped.gates.count; gate++) {
      const start = startState(shipped, [(gate + 0.5) * spacing, 0, 0, 0]);
      assert.equal(start.checkpoint, gate, `${id}: half a gap after gate ${gate}`);
    }
  }
});

test("the first gate that a car crosses from its start is the expected one, askew as some gates are", () => {
  for (const id of LIBRARY.ids()) {
    const { centreLine, gates, totalLength } = LIBRARY.track(id).geometry;
    const allGates = Array.from({ length: gates.count }, (_, gate) => gate);
    for (let begin = 0; begin < totalLength; begin += 1.7) {
      let crossed: number | undefined;
      for (let at = begin; crossed === undefined; at += 1) {
        const [from, to] = [centreLine.pointAt(at), centreLine.pointAt(at + 1)];
        crossed = allGates.find((gate) => crossesGate(gates, gate, from.x, from.y, to.x - from.x, to.y - from.y));
      }
      const { checkpoint } = startState(LIBRARY.track(id).geometry, [begin, 0, 0, 0]);
      assert.equal((checkpoint + 1) % gates.count, crossed, `${id}: start at ${begin}`);
    }
  }
});

test("just before a gate, the one before it is the last", () => {
  const spacing = geometry.totalLength / geometry.gates.count;
  assert.equal(startState(geometry, [5 * spacing - 3, 0, 0, 0]).checkpoint, 4);
  assert.equal(startState(geometry, [5 * spacing + 3, 0, 0, 0]).checkpoint, 5);
});

test("arc lengths of any value are wrapped", () => {
  const before = startState(geometry, [-10, 0, 0, 0]);
  assert.equal(before.checkpoint, 29);
  assert.deepEqual(startState(geometry, [geometry.totalLength - 10, 0, 0, 0]), before);
  assert.ok(Number.isFinite(startState(geometry, [1e300, 0, 0, 0]).x));
});
