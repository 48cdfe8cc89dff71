/** In a real browser, whatever is wrong is a sentence on the screen, and the rest goes on. */

import { expect, it } from "vitest";
import { describeInBrowser } from "./opened.js";
import type { Site } from "./site.js";

const BROKEN_TRACK =
  '{"id": "track-01", "name": "Circuit", "checkpointCount": 30, "controlPoints": [{"x": 0, "y": 0}]}';

describeInBrowser("errors in a browser", (open) => {
  const cases: [string, (site: Site) => void, RegExp][] = [
    [
      "a missing driver",
      (site) => site.remove("drivers/pretrained.onnx"),
      /the driver "Pretrained".*is missing: .*404/,
    ],
    ["a damaged driver", (site) => site.write("drivers/pretrained.onnx", "no network"), /driver "Pretrained".*damaged/],
    [
      "a track that cannot be driven",
      (site) => site.write("tracks/track-01.json", BROKEN_TRACK),
      /"Circuit" cannot be driven: .*controlPoints/,
    ],
    ["a missing track", (site) => site.remove("tracks/track-01.json"), /the track "Circuit".*is missing/],
  ];

  it.each(cases)("%s is told on the menu, and others can be driven", async (_name, change, sentence) => {
    const opened = await open(undefined, change);
    const { page } = opened;
    await opened.choose("track-01", ["pretrained"]);
    await page.click("button[value=watch]");
    await page.waitForSelector("#alert", { state: "visible" });
    expect(await page.locator("#alert").innerText()).toMatch(sentence);
    await opened.choose("track-02", []);
    await opened.begin("trial");
    expect(opened.errors).toEqual([]);
    await opened.close();
  });

  it("what could not be loaded is tried again", async () => {
    const opened = await open(undefined, (site) => site.remove("drivers/pretrained.onnx"));
    await opened.page.click("button[value=watch]");
    await opened.page.waitForSelector("#alert", { state: "visible" });
    opened.site.restore("drivers/pretrained.onnx");
    await opened.begin("watch");
    await opened.close();
  });

  it("a missing WebAssembly file is not the driver's fault", async () => {
    const opened = await open();
    await opened.page.route("**/*.wasm", (route) => route.fulfill({ status: 404 }));
    await opened.page.click("button[value=watch]");
    await opened.page.waitForSelector("#alert", { state: "visible" });
    expect(await opened.page.locator("#alert").innerText()).toMatch(/^What computes drivers, .* Reload the page/);
    await opened.close();
  });

  const fatal: [string, (site: Site) => void, RegExp][] = [
    ["no page.json", (site) => site.remove("page.json"), /^The file page.json .*is missing/],
    ["a damaged page.json", (site) => site.write("page.json", "{"), /^The file page.json .*is damaged/],
    ["a page.json of another version", (site) => site.write("page.json", '{"version": 2}'), /^page.json: /],
    ["no physics", (site) => site.remove("physics.json"), /^The file physics.json .*is missing/],
  ];

  it.each(fatal)("%s is told instead of the menu", async (_name, change, sentence) => {
    const opened = await open(undefined, change);
    expect(await opened.page.locator("#failed-why").innerText()).toMatch(sentence);
    expect(await opened.page.locator("#menu").isVisible()).toBe(false);
    await opened.close();
  });

  const recordings: [string, string, RegExp][] = [
    ["no JSON", "lap", /cannot be loaded: it is damaged/],
    ["no recording", "{}", /cannot be loaded: .*lacks the key/],
  ];

  it.each(recordings)("a recording that is %s is told on the menu", async (_name, text, sentence) => {
    const opened = await open();
    await opened.load(text);
    await opened.page.waitForSelector("#alert", { state: "visible" });
    expect(await opened.page.locator("#alert").innerText()).toMatch(sentence);
    await opened.close();
  });
});
