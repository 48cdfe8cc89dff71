import { expect, it } from "vitest";
import { bestOf, figuresOf, tableOf } from "../../measure/figures.js";

/** Frames at some milliseconds, each of which took two to draw. */
const framesAt = (...times: number[]) =>
  times.map((time, i) => ({ time, tick: Math.floor((time * 60) / 1000), drawingMs: 2 * i }));

const FIGURES = figuresOf(framesAt(1000, 1020, 1040, 1060, 1100), 20);

it("sums up what lies between the first frame and the last", () => {
  expect(FIGURES).toEqual({
    framesPerSecond: 40,
    median: 20,
    percentile99: 40,
    drawing: 2,
    thread: 5,
    ticksPerSecond: 60,
  });
});

it("takes the turn with most frames", () => {
  const slower = figuresOf(framesAt(0, 50, 100), 2);
  expect(bestOf([slower, FIGURES, slower])).toBe(FIGURES);
});

it("has a cell for every column", () => {
  const lines = tableOf([{ window: "1280x720", camera: "whole", figures: FIGURES }]);
  expect(lines[2]).toBe("| 1280x720 | all of the track | 40.0 | 20.0 ms | 40.0 ms | 2.0 ms | 5.0 ms | 60.0 |");
  expect(new Set(lines.map((line) => line.split("|").length)).size).toBe(1);
});
