import { expect, it } from "vitest";
import { LapTimer } from "../../src/game/laps.js";

/** Let ticks pass on a lap. */
function pass(timer: LapTimer, ticks: number, lap: number, isContact = false): void {
  for (let i = 0; i < ticks; i++) timer.see(lap, isContact);
}

it("times a lap from the start to the tick that begins the next one", () => {
  const timer = new LapTimer();
  pass(timer, 9, 1);
  expect(timer.see(2, false)).toEqual({ ticks: 10, isClean: true });
  expect(timer.ticks).toBe(0);
});

it("calls a lap with a wall contact not clean, and the next one clean", () => {
  const timer = new LapTimer();
  timer.see(1, true);
  timer.see(2, false);
  timer.see(3, false);
  expect(timer.laps.map(({ isClean }) => isClean)).toEqual([false, true]);
});

it("counts no lap that began elsewhere than at the line", () => {
  const timer = new LapTimer();
  timer.begin(0);
  pass(timer, 5, 0);
  expect(timer.isOutLap).toBe(true);
  expect(timer.see(1, false)).toBeNull();
  pass(timer, 2, 1);
  timer.see(2, false);
  expect(timer.laps).toEqual([{ ticks: 3, isClean: true }]);
});

it("knows the fastest lap", () => {
  const timer = new LapTimer();
  expect(timer.best).toBeNull();
  pass(timer, 5, 1);
  pass(timer, 3, 2);
  pass(timer, 9, 3);
  expect(timer.best).toBe(3);
});

it("knows the fastest clean lap", () => {
  const timer = new LapTimer();
  timer.see(2, true);
  expect(timer.bestClean).toBeNull();
  pass(timer, 5, 2);
  timer.see(3, false);
  expect([timer.best, timer.bestClean]).toEqual([1, 6]);
});
