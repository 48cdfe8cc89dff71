import { expect, it } from "vitest";
import { outlineOf } from "../../src/drawing/outline.js";
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

it("has seams from edge to edge, at even distances", () => {
  const middles = OUTLINE.seams.map(([[ax, ay], [bx, by]]) => [(ax + bx) / 2, (ay + by) / 2]);
  const steps = middles.slice(1).map(([x, y], i) => Math.hypot(x - middles[i][0], y - middles[i][1]));
  expect(Math.min(...steps)).toBeGreaterThan(22);
  expect(Math.max(...steps)).toBeLessThan(26);
});
