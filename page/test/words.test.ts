import { expect, it } from "vitest";
import { gapText, medalFor, nextMedal, timeText } from "../src/words.js";

it("writes times in seconds, and from a minute on in minutes", () => {
  expect([timeText(0), timeText(418), timeText(3600), timeText(4261)]).toEqual(["0.00", "6.97", "1:00.00", "1:11.02"]);
});

it("writes gaps with their sign", () => {
  expect([gapText(15), gapText(0), gapText(-90)]).toEqual(["+0.25", "+0.00", "\u22121.50"]);
});

it("gives the best medal that a lap earns", () => {
  const par = { gold: 100, silver: 110, bronze: 130 };
  expect([100, 101, 130, 131].map((ticks) => medalFor(ticks, par))).toEqual(["gold", "silver", "bronze", null]);
  expect(medalFor(1, null)).toBeNull();
});

it("names the next medal to drive for", () => {
  const par = { gold: 100, silver: 110, bronze: 130 };
  expect([null, 131, 130, 110, 100].map((ticks) => nextMedal(ticks, par))).toEqual([
    ...["bronze", "bronze", "silver", "gold", "gold"],
  ]);
});
