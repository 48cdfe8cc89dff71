/** What is said of frames that were watched, and a table of it. */

import { CAMERA_NAMES, type CameraMode } from "../src/drawing/camera.js";
import type { Frame } from "../test/browser/watched.js";

/** What a row of the table says. Times in milliseconds. */
export interface Figures {
  readonly framesPerSecond: number;
  /** From one frame to the next. */
  readonly median: number;
  readonly percentile99: number;
  /** Time of the script for a frame's drawing; the browser fills the pixels later. */
  readonly drawing: number;
  /** Processor time of the page's thread for a frame: ticks, drivers, drawing, and filling the pixels. */
  readonly thread: number;
  readonly ticksPerSecond: number;
}

/** Sum up frames; `threadMs` is the processor time of the page's thread for all of them. */
export function figuresOf(frames: readonly Frame[], threadMs: number): Figures {
  const [first, last] = [frames[0], frames[frames.length - 1]];
  const gaps = frames.slice(1).map(({ time }, i) => time - frames[i].time);
  gaps.sort((a, b) => a - b);
  const count = gaps.length;
  const seconds = (last.time - first.time) / 1000;
  return {
    framesPerSecond: count / seconds,
    median: gaps[Math.floor(count / 2)],
    percentile99: gaps[Math.floor(0.99 * count)],
    drawing: (last.drawingMs - first.drawingMs) / count,
    thread: threadMs / count,
    ticksPerSecond: (last.tick - first.tick) / seconds,
  };
}

/** The turn with most frames: other work only slows a browser. */
export function bestOf(turns: readonly Figures[]): Figures {
  return turns.reduce((a, b) => (b.framesPerSecond > a.framesPerSecond ? b : a));
}

/** The lines of a table in Markdown. */
export function tableOf(rows: readonly { window: string; camera: CameraMode; figures: Figures }[]): string[] {
  const heading = ["window", "camera", "frames/s", "median", "99 %", "drawing", "thread", "ticks/s"];
  const lines = rows.map(({ window, camera, figures }) => {
    const { framesPerSecond, median, percentile99, drawing, thread, ticksPerSecond } = figures;
    const times = [median, percentile99, drawing, thread].map((ms) => `${ms.toFixed(1)} ms`);
    return [window, CAMERA_NAMES[camera], framesPerSecond.toFixed(1), ...times, ticksPerSecond.toFixed(1)];
  });
  return [heading, heading.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`);
}
