/** In a real browser, the ground is what it should be also where its picture is kept. */

import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { DESK, describeInBrowser } from "./opened.js";
import { watchFrames } from "./watched.js";

describeInBrowser("the ground in a browser", (open) => {
  it("has the system's colours and fills the window, from all of the track at rest", async () => {
    const opened = await open({ ...DESK, colorScheme: "dark" });
    const { page } = opened;
    await opened.begin("watch");
    for (const _ of ["north", "whole"]) await page.keyboard.press("c");
    const dark = await lastPixel(page);
    await page.emulateMedia({ colorScheme: "light" });
    const light = await lastPixel(page);
    expect(Math.min(...light.map((value, i) => value - dark[i]))).toBeGreaterThan(0);
    await page.setViewportSize({ width: 1400, height: 800 });
    expect(Math.max(...(await lastPixel(page)))).toBeGreaterThan(0);
    await opened.close();
  });
});

/** Red, green and blue in the lower right corner, where grass is, some frames later. */
async function lastPixel(page: Page): Promise<number[]> {
  await watchFrames(page, 200);
  return page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>("#view")!;
    return [...canvas.getContext("2d")!.getImageData(canvas.width - 1, canvas.height - 1, 1, 1).data].slice(0, 3);
  });
}
