/** In a real browser, the game has 60 ticks a second, however slow the frames are. */

import { expect, it } from "vitest";
import { describeInBrowser } from "./opened.js";
import { watchFrames } from "./watched.js";

const LONGEST_MS = 250; // of a frame, beyond which a machine slows the game down

describeInBrowser("time in a browser", (open) => {
  it.each([1, 4, 10])("60 ticks a second on a processor that is slowed down %d times", async (rate) => {
    const opened = await open();
    await opened.begin("watch");
    const device = await opened.page.context().newCDPSession(opened.page);
    await device.send("Emulation.setCPUThrottlingRate", { rate });
    const frames = await watchFrames(opened.page, 2000);
    const gaps = frames.slice(1).map(({ time }, i) => Math.min(time - frames[i].time, LONGEST_MS));
    const seconds = gaps.reduce((sum, ms) => sum + ms, 0) / 1000;
    const ticks = frames.at(-1)!.tick - frames[0].tick;
    expect(Math.abs(ticks - 60 * seconds)).toBeLessThan(1.01); // a frame shows whole ticks
    await opened.close();
  });

  it("none passes in a hidden tab, or is made up for later", async () => {
    const opened = await open();
    const { page } = opened;
    await opened.begin("watch");
    await page.evaluate(() => {
      Object.defineProperty(document, "hidden", { value: true });
      document.dispatchEvent(new Event("visibilitychange"));
    });
    await page.waitForSelector("#paused", { state: "visible" });
    const tick = await page.evaluate(() => globalThis.racer.session!.world.tick);
    await page.waitForTimeout(400);
    const resume = () => page.$eval("#paused button[value=resume]", (button) => (button as HTMLElement).click());
    const [frames] = await Promise.all([watchFrames(page, 300), resume()]);
    expect(frames[0].tick).toBe(tick);
    expect(frames.at(-1)!.tick).toBeGreaterThan(tick);
    const most = (i: number) => frames[i].tick + (60 * (frames[i + 1].time - frames[i].time)) / 1000 + 1;
    for (const [i, frame] of frames.slice(1).entries()) expect(frame.tick).toBeLessThan(most(i) + 0.01);
    await opened.close();
  });
});
