import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parsePageData } from "../../src/data.js";
import { fragmentOf, namedIn } from "../../src/screens/address.js";

const PAGE = parsePageData(JSON.parse(readFileSync(new URL("../data/page.json", import.meta.url), "utf8")));

it("finds the choice again that was written into the address", () => {
  const fragment = fragmentOf("track-02", ["pretrained", "held"]);
  expect(namedIn(fragment, PAGE)).toEqual({ trackId: "track-02", drivers: ["pretrained", "held"], unknown: [] });
});

it("tells no drivers from drivers that are not named", () => {
  expect(namedIn(fragmentOf("track-01", []), PAGE).drivers).toEqual([]);
  expect(namedIn("#track=track-01", PAGE).drivers).toBeNull();
  expect(namedIn("", PAGE)).toEqual({ trackId: null, drivers: null, unknown: [] });
});

it("says what the page does not have", () => {
  const named = namedIn("#track=nowhere&drivers=pretrained,nobody", PAGE);
  expect(named).toEqual({ trackId: null, drivers: ["pretrained"], unknown: ["nowhere", "nobody"] });
});
