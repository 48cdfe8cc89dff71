/** The contract against `tests/contract.json`, which the toolkit's tests read as well. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import * as contract from "../src/engine/contract.js";
import { readJson } from "../src/json_file.js";
import { PROJECT_ROOT } from "./engine_helpers.js";
import type { Message } from "./helpers.js";

const shared: Message = readJson(join(PROJECT_ROOT, "tests", "contract.json"), "contract");

const PARTS: Readonly<Record<string, unknown>> = {
  ticksPerSecond: contract.TICKS_PER_SECOND,
  actions: contract.ACTION,
  observation: contract.OBSERVATION,
  components: contract.COMPONENTS,
  stepInfo: contract.STEP_INFO,
  resetInfo: contract.RESET_INFO,
  placement: contract.PLACEMENT,
  ...contract.DEFAULT_CONFIG,
};

for (const [name, part] of Object.entries(PARTS)) {
  test(`the contract's ${name} is the shared one`, () => assert.deepEqual(part, shared[name]));
}

test("the shared contract has no part that is unknown here", () => {
  assert.deepEqual(Object.keys(shared), Object.keys(PARTS));
});

test("weights and limits stand in the shared order", () => {
  for (const section of ["weights", "episode"] as const) {
    assert.deepEqual(Object.keys(contract.DEFAULT_CONFIG[section]), Object.keys(shared[section]));
  }
});

test("a tick is the inverse of the ticks per second", () => {
  assert.equal(contract.TICK_SECONDS, 1 / shared.ticksPerSecond);
});

test("sizes, indices and keys are those of the shared lists", () => {
  const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);
  const indicesOf = (list: Message) => Object.fromEntries(namesOf(list).map((name, index) => [name, index]));
  assert.equal(contract.ACTION_SIZE, shared.actions.length);
  assert.equal(contract.OBSERVATION_SIZE, shared.observation.length);
  assert.deepEqual(contract.ACTION_INDEX, indicesOf(shared.actions));
  assert.deepEqual(contract.OBSERVATION_INDEX, indicesOf(shared.observation));
  assert.deepEqual(contract.STEP_INFO_KEYS, namesOf(shared.stepInfo));
  assert.deepEqual(contract.RESET_INFO_KEYS, namesOf(shared.resetInfo));
});

test("the rays are the observation's first numbers, and all of them", () => {
  const isRay = contract.OBSERVATION.map(({ name }) => name.startsWith("ray_"));
  assert.equal(isRay.lastIndexOf(true) + 1, contract.RAY_COUNT);
  assert.equal(isRay.filter(Boolean).length, contract.RAY_COUNT);
});
