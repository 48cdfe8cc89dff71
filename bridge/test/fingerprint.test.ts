import assert from "node:assert/strict";
import { test } from "node:test";
import { fingerprintOf } from "../src/fingerprint.js";

test("layout, order of keys and fractions that are 0 do not matter to a fingerprint", () => {
  const fingerprint = fingerprintOf({ b: [2, -0.5], a: { y: "ä", x: null } });
  assert.equal(fingerprintOf(JSON.parse('{"a":{"x":null, "y":"\\u00e4"}, "b":[2.0,-5e-1]}')), fingerprint);
  assert.match(fingerprint, /^[0-9a-f]{64}$/);
});

test("a fingerprint is the SHA-256 of the canonical text", () => {
  // printf '{"a":1,"b":[true,"x"]}' | sha256sum
  const expected = "63e8063d9dc6f0fd5a24b4706818a165fd57c3531b74466cf5dea62bff09b0b6";
  assert.equal(fingerprintOf({ b: [true, "x"], a: 1 }), expected);
});

test("a changed number changes the fingerprint", () => {
  assert.notEqual(fingerprintOf({ a: 1 }), fingerprintOf({ a: 1.0000000000000002 }));
  assert.notEqual(fingerprintOf([1, 2]), fingerprintOf([2, 1]));
});
