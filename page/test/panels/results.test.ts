import { expect, it } from "vitest";
import { medalLine } from "../../src/panels/results.js";

it("says which medal the best clean lap earns, and what a medal takes", () => {
  expect(medalLine(440, "gold", 548)).toBe("Your best clean lap took 7.33 s: a gold medal.");
  expect(medalLine(600, null, 548)).toBe("Your best clean lap took 10.00 s: no medal. Bronze takes 9.13 s.");
  expect(medalLine(600, null, null)).toBe("Your best clean lap took 10.00 s. There are no par times for this track.");
});

it("gives no medal where every lap touched a wall", () => {
  expect(medalLine(null, null, 548)).toBe("Every lap of yours touched a wall: a medal takes a clean one.");
});
