import { expect, it } from "vitest";
import { checkAnswer, DriverController } from "../../src/driver/driver.js";

/** A driver that answers with how often it has been asked. */
function counting() {
  let asked = 0;
  return {
    decide: (_observation: Float64Array, action: Float64Array) => {
      asked += 1;
      action.fill(asked);
      return Promise.resolve();
    },
  };
}

async function steers(controller: DriverController, ticks: number): Promise<number[]> {
  const action = new Float64Array(3);
  const found: number[] = [];
  for (let tick = 0; tick < ticks; tick++) {
    await controller.act({ observation: new Float64Array(14), speed: 0 }, action);
    found.push(action[0]);
    action.fill(-1); // what others write into the same place changes nothing
  }
  return found;
}

it("holds each action for its ticks", async () => {
  expect(await steers(new DriverController(counting(), 3), 7)).toEqual([1, 1, 1, 2, 2, 2, 3]);
});

it("asks anew where a car has been put somewhere else", async () => {
  const controller = new DriverController(counting(), 3);
  await steers(controller, 1);
  controller.begin();
  expect(await steers(controller, 1)).toEqual([2]);
});

it("takes three finite numbers for an answer, and says what it got instead", () => {
  expect(() => checkAnswer([0, 1, 0], "it")).not.toThrow();
  expect(() => checkAnswer([Number.NaN, 1, 0], "it")).toThrow('"it" must answer with 3 finite numbers; got NaN, 1, 0.');
  expect(() => checkAnswer([0, 1], "it")).toThrow("got 0, 1.");
  expect(() => checkAnswer([], "it")).toThrow("got none.");
});
