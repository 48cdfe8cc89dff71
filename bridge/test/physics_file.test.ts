import assert from "node:assert/strict";
import { test } from "node:test";
import { fingerprintOf } from "../src/fingerprint.js";
import { readJson } from "../src/json_file.js";
import { loadPhysics, parsePhysics } from "../src/physics_file.js";
import { assertRefused, changed, PHYSICS, PHYSICS_PATH } from "./engine_helpers.js";

test("the shipped physics have the numbers of the definition", () => {
  assert.equal(PHYSICS.maxEngineForce, 55000);
  assert.equal(PHYSICS.shoulderSpeed, 0.85);
  assert.equal(PHYSICS.rayFieldOfView, Math.PI);
  assert.equal(loadPhysics(PHYSICS_PATH).fingerprint, fingerprintOf(readJson(PHYSICS_PATH, "physics")));
});

test("wrong physics are refused with the key", () => {
  const good = readJson(PHYSICS_PATH, "physics");
  const refused = (keys: readonly string[], value: unknown, message: RegExp) =>
    assertRefused(() => parsePhysics(changed(good, keys, value), "p.json"), message);
  refused(["car", "mass"], undefined, /^p\.json: car lacks the key "mass"$/);
  refused(["car", "colour"], 1, /unknown key "colour" in car/);
  refused(["rays"], undefined, /the physics lacks the key "rays"/);
  refused(["tyres"], {}, /unknown key "tyres" in the physics/);
  refused(["wall"], 3, /wall must be an object, got 3/);
  refused(["car", "mass"], "800", /car\.mass must be a finite number, got "800"/);
  refused(["car", "mass"], Infinity, /car\.mass must be a finite number, got Infinity/);
  refused(["car", "mass"], 0, /car\.mass must be above 0, got 0/);
  refused(["rays", "count"], 8, /rays\.count must be 9, got 8/);
});
