import { expect, it } from "vitest";
import type { Controller } from "../../src/game/controller.js";
import { Hints } from "../../src/game/hints.js";
import { Session } from "../../src/game/session.js";
import { LOADED } from "../loaded.js";

/** What is told in so many ticks to somebody who does the same all the time. */
async function told(action: readonly number[], ticks: number, heading = 0): Promise<string[]> {
  const controller: Controller = { act: (_, values) => values.set(action), begin: () => {} };
  const session = new Session(LOADED, [{ label: "you", controller, isPerson: true }], {
    hasCountdown: false,
    laps: null,
  });
  session.world.simulation.cars.heading[0] += heading;
  const said: string[] = [];
  new Hints(session, 0, (text) => said.push(text));
  for (let tick = 0; tick < ticks; tick++) await session.tick();
  return said;
}

it("tells somebody at a wall how to get away, and again only after a while", async () => {
  const said = await told([0, 1, 0], 900);
  expect(said[0]).toBe("Stuck? R, or Back on road, puts the car back.");
  expect(said.length).toBeLessThanOrEqual(2);
});

it("tells somebody who drives backwards that this is the wrong way", async () => {
  expect(await told([0, 1, 0], 240, Math.PI)).toEqual([
    "This is the wrong way. R, or Back on road, puts the car back.",
  ]);
});

it("tells nothing to somebody who waits, or has just begun", async () => {
  expect(await told([0, 0, 0], 600)).toEqual([]);
  expect(await told([0, 1, 0], 60)).toEqual([]);
});
