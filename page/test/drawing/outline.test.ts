import { expect, it } from "vitest";
import { outlineOf } from "../../src/drawing/outline.js";
import { levelFor } from "../../src/drawing/tiles.js";
import { LOADED } from "../loaded.js";

const { centreLine } = LOADED.track.geometry;
const OUTLINE = outlineOf(LOADED.track.geometry);

it("has the shoulder between road and wall", () => {
  for (const side of [0, 1] as const) {
    for (const [i, [x, y]] of OUTLINE.shoulders[side].entries()) {
      const { x: cx, y: cy } = centreLine.pointAt((i * centreLine.totalLength) / OUTLINE.shoulders[side].length);
      const reach = (point: readonly [number, number]) => Math.hypot(point[0] - cx, point[1] - cy);
      expect(reach([x, y])).toBeGreaterThan(reach(OUTLINE.roadEdges[side][i]));
      expect(reach([x, y])).toBeLessThan(reach(OUTLINE.walls[side][i]));
    }
  }
});

it("has kerbs in curves alone", () => {
  const straight = centreLine.pointAt(40);
  const near = OUTLINE.kerbs.filter(({ corners: [[x, y]] }) => Math.hypot(x - straight.x, y - straight.y) < 35);
  expect(OUTLINE.kerbs.length).toBeGreaterThan(50);
  expect(near).toEqual([]);
});

it("draws tiles finely enough, at few scales", () => {
  const levels = [1, 1.3, 1.5, 3].map((scale) => levelFor(scale, 0));
  expect(levels).toEqual([1, 2 ** 0.5, 2 ** 0.5, 8 ** 0.5].map((level) => expect.closeTo(level)));
});

it("keeps its tiles while the camera zooms a little", () => {
  expect([3, 4, 2, 1.9, 4.5].map((scale) => levelFor(scale, 4) === 4)).toEqual([true, true, true, false, false]);
});
