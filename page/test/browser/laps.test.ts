/** In a real browser, drivers lap to the tick as the toolkit has measured them. */

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BROWSER, launch } from "./launch.js";
import { PAGE, Site } from "./site.js";

describe.skipIf(BROWSER === null)("laps in a browser", () => {
  let site: Site;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    site = new Site();
    browser = await launch();
    page = await browser.newPage();
    await page.goto(await site.start());
    await page.waitForFunction("globalThis.racer !== undefined");
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    site?.stop();
  });

  for (const driver of PAGE.drivers) {
    for (const track of PAGE.tracks) {
      it(`${driver.name} on ${track.id}`, { timeout: 60_000 }, async () => {
        const laps = await page.evaluate(([name, id]) => globalThis.racer.measureLaps(name, id, 3), [
          driver.name,
          track.id,
        ] as [string, string]);
        expect(laps.map(({ ticks }) => ticks)).toEqual(driver.laps[track.id].ticks);
        expect(laps.every(({ isClean }) => isClean)).toBe(driver.laps[track.id].clean);
      });
    }
  }
});
