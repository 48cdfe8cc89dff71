/** The steering assist steers as the table says that the toolkit's window reads too. */

import { expect, test } from "vitest";
import table from "../../../tests/recordings/steering_assist.json";
import { SteeringAssist } from "../../src/steering/assist.js";

test.each(table.cases)("$name", ({ steps }) => {
  const assist = new SteeringAssist(table.settings);
  for (const [wanted, speed, expected] of steps) {
    expect(assist.step(wanted, speed)).toBeCloseTo(expected, 12);
  }
});

test("a car that is put somewhere else begins in the middle", () => {
  const assist = new SteeringAssist(table.settings);
  const first = assist.step(1, 0);
  assist.step(1, 0);
  assist.begin();
  expect(assist.step(1, 0)).toBe(first);
});
