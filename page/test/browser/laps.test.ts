/** In a real browser, drivers lap to the tick as the toolkit has measured them. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { describeInBrowser, type Opened } from "./opened.js";
import { PAGE } from "./site.js";

describeInBrowser("laps in a browser", (open) => {
  let opened: Opened;

  beforeAll(async () => {
    opened = await open();
  });

  afterAll(async () => {
    await opened?.close();
  });

  const cases = PAGE.drivers.flatMap((driver) => PAGE.tracks.map((track) => ({ driver, track })));
  it.each(cases)("$driver.name on $track.id: the ticks of each lap", async ({ driver, track }) => {
    const laps = await opened.page.evaluate(([name, id]) => globalThis.racer.measureLaps(name, id, 3), [
      driver.name,
      track.id,
    ] as const);
    expect(laps.map(({ ticks }) => ticks)).toEqual(driver.laps.get(track.id)?.ticks);
    expect(laps.every(({ isClean }) => isClean)).toBe(driver.laps.get(track.id)?.clean);
  });

  it("watching shows the same laps, side by side", async () => {
    const { page } = opened;
    await opened.choose("track-01", ["pretrained", "held"]);
    await opened.begin("watch");
    for (let i = 0; i < 3; i++) await page.keyboard.press("+"); // eight times as fast
    await page.waitForFunction(() => globalThis.racer.session!.world.timers.every(({ laps }) => laps.length >= 3));
    const laps = await page.evaluate(() => globalThis.racer.session!.world.timers.map(({ laps }) => laps.slice(0, 3)));
    const expected = PAGE.drivers.map(({ laps }) => laps.get("track-01")?.ticks);
    expect(laps.map((own) => own.map(({ ticks }) => ticks))).toEqual(expected);
    const first = await page.locator("#laps tbody tr:last-child td").allTextContents();
    expect(first.slice(0, 2)).toEqual(["1", "8.63"]);
    expect(opened.errors).toEqual([]);
  });

  it("six drivers drive on for minutes", async () => {
    const six = await open(undefined, (site) => site.offer([..."abcdef"]));
    for (const box of await six.page.locator("input[name=driver]").all()) await box.check();
    await six.begin("watch");
    await six.page.keyboard.press("p");
    const ticks = await six.page.evaluate(async () => {
      const { session } = globalThis.racer;
      for (let tick = 0; tick < 18_000; tick++) await session!.tick();
      return session!.world.timers.map(({ laps }) => laps.at(-1)?.ticks);
    });
    expect(new Set(ticks)).toEqual(new Set([418]));
    await six.close();
  });
});
