import { expect, it } from "vitest";
import { gapTicks, Progress } from "../../src/game/progress.js";

const LENGTH = 100; // units

/** A car that drives at a speed in units per tick. */
function driven(speed: number, ticks: number): Progress {
  const progress = new Progress(LENGTH, 0);
  for (let tick = 1; tick <= ticks; tick++) progress.see(tick, (speed * tick) % LENGTH);
  return progress;
}

it("goes on counting over the line", () => {
  expect(driven(4, 60).distance).toBeCloseTo(240);
});

it("is below 0 behind the line, forwards and backwards", () => {
  expect(new Progress(LENGTH, 99).distance).toBe(-1);
  const progress = new Progress(LENGTH, 1);
  progress.see(1, 98);
  expect(progress.distance).toBe(-2);
});

it("tells a gap in ticks from both sides", () => {
  const [fast, slow] = [driven(5, 40), driven(4, 40)];
  expect(gapTicks(slow, fast, 40)).toBe(8); // the fast one was at 160 units at tick 32
  expect(gapTicks(fast, slow, 40)).toBe(-8);
});

it("knows no gap behind the start", () => {
  const [ahead, behind] = [driven(5, 10), new Progress(LENGTH, 90)];
  expect(gapTicks(behind, ahead, 10)).toBeNull();
});

it("loses a lap, and no second one where that happens again", () => {
  const progress = driven(4, 60);
  for (let i = 0; i < 2; i++) {
    progress.loseLap(42, 2);
    expect(progress.distance).toBe(142);
  }
});

it("forgets when it was where on a lost lap", () => {
  const progress = driven(4, 20);
  progress.loseLap(80, 0);
  for (let tick = 21; tick <= 40; tick++) progress.see(tick, (80 + 4 * (tick - 20)) % LENGTH);
  expect(progress.distance).toBe(60);
  expect(gapTicks(driven(0.5, 40), progress, 40)).toBe(40 - 30); // 5 ticks to the line, and 5 more to 20 units
});
