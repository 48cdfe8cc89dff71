import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig, parseConfig } from "../src/config.js";
import { DEFAULT_CONFIG } from "../src/engine/contract.js";
import { assertRefused, PROJECT_ROOT } from "./engine_helpers.js";

test("what a configuration leaves out keeps its default", () => {
  assert.deepEqual(parseConfig({}, "c"), DEFAULT_CONFIG);
  const config = parseConfig({ weights: { speedBonus: 0.5 } }, "c");
  assert.deepEqual(config, { ...DEFAULT_CONFIG, weights: { ...DEFAULT_CONFIG.weights, speedBonus: 0.5 } });
});

test("the shipped configuration is the default one", () => {
  assert.deepEqual(loadConfig(join(PROJECT_ROOT, "ai-config.json")), DEFAULT_CONFIG);
});

test("a wrong configuration is refused with the key", () => {
  const refused = (document: unknown, message: RegExp) => assertRefused(() => parseConfig(document, "c"), message);
  refused([], /^c: the configuration must be an object, got \[\]$/);
  refused({ wieghts: {} }, /unknown key "wieghts" in the configuration; allowed: weights, episode/);
  refused({ weights: { speed: 1 } }, /unknown key "speed" in weights/);
  refused({ weights: null }, /weights must be an object, got null/);
  refused({ weights: { progress: "1" } }, /weights\.progress must be a finite number/);
  refused({ episode: { maxSteps: 0 } }, /episode\.maxSteps must be from 1 to/);
  refused({ episode: { maxSteps: 1.5 } }, /episode\.maxSteps must be a whole number/);
  refused(JSON.parse('{"__proto__": {}}'), /unknown key "__proto__"/);
});
