/** Watches the frames that a page draws. */

import type { Page } from "playwright-core";

/** A frame that was drawn. */
export interface Frame {
  /** Of the browser's frame, in milliseconds. */
  readonly time: number;
  /** Of the game, which the frame shows. */
  readonly tick: number;
  /** That the script has taken to draw all frames so far. */
  readonly drawingMs: number;
}

/** Return the next frames, until so many milliseconds lie between the first and the last of them. */
export function watchFrames(page: Page, ms: number): Promise<readonly Frame[]> {
  return page.evaluate(watch, ms);
}

/** Runs in the page, which counts each frame once it is drawn. */
function watch(ms: number): Promise<readonly Frame[]> {
  const { racer } = globalThis;
  const frames: Frame[] = [];
  let drawn = racer.frames;
  return new Promise((resolve) => {
    const see = (count: number): void => {
      drawn = count;
      const time = Number(document.timeline.currentTime);
      frames.push({ time, tick: racer.session!.world.tick, drawingMs: racer.drawingMs });
      if (time - frames[0].time < ms) return;
      Object.defineProperty(racer, "frames", { value: drawn, writable: true });
      resolve(frames);
    };
    Object.defineProperty(racer, "frames", { configurable: true, get: () => drawn, set: see });
  });
}
