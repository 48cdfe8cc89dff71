import { expect, it } from "vitest";
import { LapTimer } from "../../src/game/laps.js";
import { medalOf } from "../../src/panels/results.js";

const PAR = { gold: 443, silver: 485, bronze: 548 };

it("says which medal the best clean lap earns, and what a medal takes", () => {
  expect(medalOf({ bestClean: 440 }, PAR)).toEqual({
    medal: "gold",
    text: "Your best clean lap took 7.33 s: a gold medal.",
  });
  expect(medalOf({ bestClean: 600 }, PAR)).toEqual({
    medal: null,
    text: "Your best clean lap took 10.00 s: no medal. Bronze takes 9.13 s.",
  });
  expect(medalOf({ bestClean: 600 }, null).text).toBe(
    "Your best clean lap took 10.00 s. There are no par times for this track.",
  );
});

it("gives no medal where every lap touched a wall, however fast", () => {
  const timer = new LapTimer();
  timer.see(2, true);
  expect(medalOf(timer, PAR)).toEqual({
    medal: null,
    text: "Every lap of yours touched a wall: a medal takes a clean one.",
  });
});
