import { expect, it } from "vitest";
import { Clock } from "../../src/game/clock.js";

/** Ticks of a second of frames that are so many milliseconds apart. */
function ticksIn(frameMs: number, pace = 1): number {
  const clock = new Clock();
  clock.pace = pace;
  let ticks = clock.due(0);
  for (let now = frameMs; now <= 1000.001; now += frameMs) ticks += clock.due(now);
  return ticks + Math.round(clock.share);
}

it.each([1000 / 144, 1000 / 60, 1000 / 30, 50])("has 60 ticks in a second of frames every %d ms", (frameMs) => {
  expect(ticksIn(frameMs)).toBe(60);
});

it("has more at a higher pace", () => {
  expect(ticksIn(1000 / 60, 8)).toBe(480);
});

it("slows the game down where frames come too late", () => {
  const clock = new Clock();
  clock.due(0);
  expect(clock.due(10_000)).toBe(15);
});

it("lets no time pass in a pause", () => {
  const clock = new Clock();
  clock.due(0);
  clock.rest();
  expect(clock.due(200)).toBe(0);
});

it("knows the share of the next tick", () => {
  const clock = new Clock();
  clock.due(0);
  clock.due(25);
  expect(clock.share).toBeCloseTo(0.5);
});
