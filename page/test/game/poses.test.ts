import { expect, it } from "vitest";
import { poseBetween } from "../../src/game/poses.js";

it("turns the shorter way, over the back too", () => {
  const from = { x: 0, y: 2, heading: 3 };
  const to = { x: 4, y: 0, heading: -3 };
  const { x, y, heading } = poseBetween(from, to, 0.5);
  expect([x, y]).toEqual([2, 1]);
  expect(Math.cos(heading)).toBeCloseTo(-1);
});
