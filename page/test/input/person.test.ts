import { expect, it } from "vitest";
import { Person } from "../../src/input/person.js";

const SENSES = { observation: new Float64Array(14), speed: 160 };

function steerOf(person: Person, ticks: number): number {
  const action = new Float64Array(3);
  for (let tick = 0; tick < ticks; tick++) person.act(SENSES, action);
  return action[0];
}

it("steers less at speed with the assist than without", () => {
  const person = new Person(() => ({ steer: 1, throttle: 1, brake: 0 }));
  expect(steerOf(person, 60)).toBeLessThan(0.5);
  person.isAssisted = false;
  expect(steerOf(person, 1)).toBe(1);
});

it("writes numbers that a recording holds exactly", () => {
  const person = new Person(() => ({ steer: -0.123456, throttle: 1 / 3, brake: -0 }));
  person.isAssisted = false;
  const action = new Float64Array(3);
  person.act(SENSES, action);
  expect([...action]).toEqual([-0.123, 0.333, 0]); // and not -0, which JSON cannot write
});
