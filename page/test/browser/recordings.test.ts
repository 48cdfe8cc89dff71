/** In a real browser, one's best lap is kept, saved as a file, and loaded again. */

import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInBrowser } from "./opened.js";
import { PAGE } from "./site.js";

/** A lap of track-01 that the toolkit has driven. */
const LAP = readFileSync(new URL("../../../tests/recordings/browser_lap.json", import.meta.url), "utf8");

describeInBrowser("recordings in a browser", (open) => {
  it("a best lap is the ghost after a reload, and as a file in another browser", async () => {
    const opened = await open();
    await opened.choose("track-01", []);
    await opened.begin("trial");
    expect(await opened.page.locator("#target-row").isVisible()).toBe(false);
    expect(await opened.page.locator("#goal-name").innerText()).toBe("Bronze");
    expect(await opened.page.locator("[data-command=save]").isDisabled()).toBe(true);
    const ticks = await driveLap(opened.page);
    await opened.page.waitForSelector("[data-command=save]:enabled");
    const downloading = opened.page.waitForEvent("download");
    await opened.page.click("[data-command=save]");
    const file = await (await downloading).path();
    const saved = JSON.parse(readFileSync(file, "utf8"));
    expect(saved.track_fingerprint).toBe(PAGE.tracks[0].fingerprint);

    await opened.page.reload();
    await opened.page.waitForSelector("#menu", { state: "visible" });
    expect(await opened.page.locator("#tracks").innerText()).toContain("your best ");
    await opened.begin("trial");
    expect(await opened.page.locator("#target-name").innerText()).toBe("Record");
    expect(await ghostTicks(opened.page)).toBe(ticks);

    const other = await open();
    await other.page.setInputFiles("#file", file);
    await other.page.waitForSelector("#status", { state: "visible" });
    expect(await other.page.locator("#status").innerText()).toMatch(
      /^A lap of \d+\.\d\d s by you is now the one to beat/,
    );
    await other.begin("trial");
    expect(await ghostTicks(other.page)).toBe(ticks);
    expect([...opened.errors, ...other.errors]).toEqual([]);
    await opened.close();
    await other.close();
  });

  it("a recording of the toolkit is the lap to beat", async () => {
    const opened = await open();
    await opened.load(LAP);
    await opened.page.waitForSelector("#status", { state: "visible" });
    await opened.begin("trial");
    expect(await opened.page.locator("#target-name").innerText()).toBe("To beat");
    expect(await opened.page.locator("#target").innerText()).toMatch(/^\d+\.\d\d$/);
    await opened.close();
  });

  it("a slower lap of another tab replaces no better one", async () => {
    const opened = await open();
    const key = `top-down-racer/best/${PAGE.tracks[0].fingerprint}/ticks`;
    await opened.choose("track-01", []);
    await opened.begin("trial");
    await opened.page.evaluate((name) => localStorage.setItem(name, "100"), key); // as by the other tab
    await driveLap(opened.page);
    expect(await opened.page.evaluate((name) => localStorage.getItem(name), key)).toBe("100");
    await opened.close();
  });

  it("a full storage is told, and the lap can still be saved", async () => {
    const opened = await open(undefined, undefined, () => {
      Storage.prototype.setItem = () => {
        throw new DOMException("full", "QuotaExceededError");
      };
    });
    await opened.choose("track-01", []);
    await opened.begin("trial");
    await driveLap(opened.page);
    await opened.page.waitForFunction(() =>
      document.getElementById("news")?.textContent?.includes("could not be kept"),
    );
    await opened.page.waitForSelector("[data-command=save]:enabled");
    expect(opened.errors).toEqual([]);
    await opened.close();
  });

  it("a damaged lap in the storage is forgotten, which is told", async () => {
    const opened = await open();
    const key = `top-down-racer/best/${PAGE.tracks[0].fingerprint}`;
    await opened.page.evaluate((name) => localStorage.setItem(name, "{"), key);
    await opened.choose("track-01", []);
    await opened.begin("trial");
    expect(await opened.page.locator("#news").innerText()).toMatch(/^The best lap .* is forgotten. .*damaged/);
    expect(await opened.page.evaluate((name) => localStorage.getItem(name), key)).toBeNull();
    await opened.close();
  });
});

/** Drive a person's first lap by a simple rule, without waiting for it in real time; return its ticks. */
async function driveLap(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const { session } = globalThis.racer;
    const timer = session!.world.timers[0];
    const { centreLine } = session!.loaded.track.geometry;
    const { cars } = session!.world.simulation;
    const person = session!.entrants[0].controller;
    person.act = ({ speed }, action) => {
      const ahead = centreLine.pointAt(cars.arcLength[0] + 15 + 0.25 * speed);
      const turn = Math.atan2(ahead.y - cars.y[0], ahead.x - cars.x[0]) - cars.heading[0];
      const error = Math.atan2(Math.sin(turn), Math.cos(turn));
      action.set([Math.round(Math.max(-1, Math.min(1, -error * 2)) * 1000) / 1000, 1, 0]);
    };
    while (timer.laps.length === 0) await session!.tick();
    return timer.laps[0].ticks;
  });
}

/** Ticks of the ghost's lap, as the panel shows them. */
async function ghostTicks(page: Page): Promise<number> {
  await page.waitForSelector("#target-row", { state: "visible" });
  return Math.round(Number(await page.locator("#target").innerText()) * 60);
}
