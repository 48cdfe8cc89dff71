import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readJson } from "../src/json_file.js";
import { assertRefused } from "./engine_helpers.js";

const folder = mkdtempSync(join(tmpdir(), "racer-"));
after(() => rmSync(folder, { recursive: true }));

function written(name: string, content: string | Uint8Array): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

test("a JSON file is read", () => {
  assert.deepEqual(readJson(written("good.json", '{"a": [1, 2.5]}'), "thing"), { a: [1, 2.5] });
});

test("a missing, unreadable or broken file is named", () => {
  assertRefused(() => readJson(join(folder, "none.json"), "thing"), /^thing file not found: .*none\.json$/);
  assertRefused(() => readJson(folder, "thing"), /^cannot read thing file .*expected a file, and it is a folder/);
  assertRefused(() => readJson(written("bad.json", '{\n "a":\n}'), "thing"), /bad\.json is not valid JSON: /);
  assertRefused(
    () => readJson(written("latin.json", Uint8Array.of(34, 0xe4, 34)), "thing"),
    /latin\.json is not valid/,
  );
});

test("a device and a file beyond the limit are not read", { skip: process.platform === "win32" }, () => {
  assertRefused(() => readJson("/dev/zero", "thing"), /^cannot read thing file .*expected a file/);
  assertRefused(() => readJson(written("large.json", " ".repeat(8_000_001)), "thing"), /it has 8000001 bytes/);
});
