import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Track } from "../src/engine/track.js";
import { readJson } from "../src/json_file.js";
import { parsePhysics } from "../src/physics_file.js";
import { parseTrack } from "../src/track_file.js";
import { TrackLibrary, trackFingerprint } from "../src/tracks.js";
import { assertRefused, changed, LIBRARY, PHYSICS, PHYSICS_PATH, ringFile } from "./engine_helpers.js";

const folder = mkdtempSync(join(tmpdir(), "racer-"));
after(() => rmSync(folder, { recursive: true }));

function fresh(): string {
  return mkdtempSync(join(folder, "tracks-"));
}

test("a good track is taken as it is", () => {
  assert.deepEqual(parseTrack(JSON.parse(JSON.stringify(ringFile())), "t"), ringFile());
});

test("a wrong track is refused with the key", () => {
  const refused = (keys: readonly (string | number)[], value: unknown, message: RegExp) =>
    assertRefused(() => parseTrack(changed(ringFile(), keys, value), "t.json"), message);
  refused(["id"], "", /^t\.json: id must be a non-empty string, got ""$/);
  refused(["name"], undefined, /lacks the key "name"/);
  refused(["laps"], 3, /unknown key "laps"/);
  refused(["checkpointCount"], 1, /checkpointCount must be from 2/);
  refused(["controlPoints"], {}, /controlPoints must be a list/);
  refused(["controlPoints"], ringFile(200, 20, 2).controlPoints, /3 to 1000 points, got 2/);
  refused(["controlPoints"], ringFile(200, 20, 1001).controlPoints, /3 to 1000 points, got 1001/);
  refused(["controlPoints", 3, "x"], null, /controlPoints\[3\]\.x must be a finite number, got null/);
  refused(["controlPoints", 3, "z"], 1, /unknown key "z" in controlPoints\[3\]/);
  refused(["controlPoints", 3, "halfWidth"], 0, /controlPoints\[3\]\.halfWidth must be above 0/);
  refused(["controlPoints", 3, "halfWidth"], 1e9, /halfWidth must be above 0 and at most 15000/);
  refused(["controlPoints", 11], ringFile().controlPoints[0], /controlPoints\[11\] repeats controlPoints\[0\]/);
  refused(["controlPoints", 3, "x"], 10_000, /units long; the most is 15000/);
});

test("a track's fingerprint looks at the road only", () => {
  const fingerprint = trackFingerprint(ringFile());
  assert.equal(trackFingerprint({ ...ringFile(), id: "other", name: "Other" }), fingerprint);
  assert.notEqual(trackFingerprint({ ...ringFile(), checkpointCount: 31 }), fingerprint);
});

test("the library lists the shipped tracks in order of id", () => {
  assert.deepEqual(LIBRARY.ids(), ["track-01", "track-02", "track-03"]);
  const [first] = LIBRARY.list();
  assert.equal(first.name, "Circuit");
  assert.equal(first.length, LIBRARY.track("track-01").geometry.totalLength);
  assert.equal(first.fingerprint, trackFingerprint(LIBRARY.file("track-01")));
});

test("the library builds a track once", () => {
  assert.equal(LIBRARY.track("track-02"), LIBRARY.track("track-02"));
});

test("an unknown track is refused with those that there are", () => {
  assertRefused(() => LIBRARY.track("x"), /^no track "x"; there are: track-01, track-02, track-03$/);
  assertRefused(() => LIBRARY.file("__proto__"), /^no track "__proto__"/);
});

test("a folder without a good set of tracks is refused", () => {
  const refused = (path: string, message: RegExp) => assertRefused(() => new TrackLibrary(path, PHYSICS), message);
  refused(join(folder, "nowhere"), /^tracks folder not found: .*nowhere$/);
  refused(fresh(), /^no track files \(\*\.json\) in /);
  const broken = fresh();
  writeFileSync(join(broken, "a.json"), "{");
  refused(broken, /a\.json is not valid JSON/);
  const twice = fresh();
  for (const name of ["a.json", "b.json"]) writeFileSync(join(twice, name), JSON.stringify(ringFile()));
  refused(twice, /a\.json and .*b\.json are both the track "ring"/);
  const crowded = fresh();
  writeFileSync(join(crowded, "a.json"), JSON.stringify(ringFile(200, 20, 12, 10_000)));
  refused(crowded, /checkpointCount must be at most \d+ on a lap of 12\d\d units, got 10000/);
});

test("physics that look for contacts too far away for the tables are refused", () => {
  const document = changed(readJson(PHYSICS_PATH, "physics"), ["car", "width"], 5);
  assertRefused(() => new Track(ringFile(), parsePhysics(document, "p.json")), /must be at most 3, got 3\.5/);
});
