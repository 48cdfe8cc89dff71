import { expect, it } from "vitest";
import { wishOf } from "../../src/input/gamepad.js";
import { strongest } from "../../src/input/wish.js";

/** A gamepad with a stick, and buttons by number. */
function pad(stick: number, values: Record<number, number> = {}) {
  const buttons = Array.from({ length: 17 }, (_, i) => ({ value: values[i] ?? 0, pressed: false, touched: false }));
  return { axes: [stick, 0], buttons };
}

it("takes the strongest of several devices", () => {
  const wishes = [
    { steer: 0.2, throttle: 1, brake: 0 },
    { steer: -0.7, throttle: 0.4, brake: 0.1 },
  ];
  expect(strongest(wishes)).toEqual({ steer: -0.7, throttle: 1, brake: 0.1 });
});

it("leaves a stick that rests alone, and reaches the full lock", () => {
  expect([0.1, -0.1, 1, -1].map((stick) => wishOf(pad(stick)).steer)).toEqual([0, -0, 1, -1]);
});

it("takes triggers, buttons and the cross", () => {
  expect(wishOf(pad(0, { 7: 0.6, 6: 0.3, 14: 1 }))).toEqual({ steer: -1, throttle: 0.6, brake: 0.3 });
  expect(wishOf(pad(0, { 0: 1, 1: 1 }))).toEqual({ steer: 0, throttle: 1, brake: 1 });
});
