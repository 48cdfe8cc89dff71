import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parsePageData } from "../src/data.js";

const PAGE = JSON.parse(readFileSync(new URL("data/page.json", import.meta.url), "utf8"));

/** A page with one value replaced, at a path of keys. */
function pageWith(path: (string | number)[], value: unknown): unknown {
  const page = structuredClone(PAGE);
  const last = path[path.length - 1];
  const parent = path.slice(0, -1).reduce((part, key) => part[key], page);
  parent[last] = value;
  return page;
}

it("takes what the toolkit writes, and leaves keys alone that it does not know", () => {
  const data = parsePageData({ ...PAGE, later: 1 });
  expect(data).toEqual(parsePageData(PAGE));
  expect(data.tracks).toEqual(PAGE.tracks);
  expect(Object.fromEntries(data.drivers[0].laps)).toEqual(PAGE.drivers[0].laps);
});

const CASES: [string, (string | number)[], unknown, RegExp][] = [
  ["another version", ["version"], 2, /version must be from 1 to 1, got 2/],
  ["no tracks", ["tracks"], [], /at least one track/],
  ["an action repeat of 0", ["drivers", 0, "actionRepeat"], 0, /drivers\[0\].actionRepeat must be from 1/],
  [
    "a driver's name twice",
    ["drivers", 1, "name"],
    "pretrained",
    /drivers must have different names, got "pretrained"/,
  ],
  ["a lap of no ticks", ["drivers", 0, "laps", "track-01", "ticks", 1], 0, /laps.track-01.ticks\[1\]/],
  ["a par time that is no number", ["tracks", 0, "parTicks", "gold"], "7 s", /tracks\[0\].parTicks.gold/],
  ["drivers that are no list", ["drivers"], {}, /drivers must be a list/],
];

it.each(CASES)("refuses %s", (_name, path, value, message) => {
  expect(() => parsePageData(pageWith(path, value))).toThrow(message);
});
