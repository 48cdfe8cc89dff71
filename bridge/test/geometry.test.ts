import assert from "node:assert/strict";
import { test } from "node:test";
import { CentreLine } from "../src/engine/centre_line.js";
import { circularBoxFilter, type Polyline, TrackGeometry } from "../src/engine/geometry.js";
import { ringFile } from "./engine_helpers.js";

const WALL_OFFSET = 30; // units

function radii({ x, y }: Polyline): number[] {
  return Array.from(x, (value, i) => Math.hypot(value, y[i]));
}

function assertWithin(values: readonly number[], low: number, high: number): void {
  for (const value of values) assert.ok(value >= low && value <= high, `${value} is not in [${low}, ${high}]`);
}

test("the centre line goes through its control points", () => {
  const { controlPoints } = ringFile();
  const line = new CentreLine(controlPoints);
  for (const [i, point] of controlPoints.entries()) {
    const { x, y } = line.pointAt(line.lengths[20 * i]);
    assert.ok(Math.hypot(x - point.x, y - point.y) < 1e-9);
  }
});

test("a ring is as long as its circle, and its tangent is square to the radius", () => {
  const line = new CentreLine(ringFile(200, 20, 24).controlPoints);
  assertWithin([line.totalLength / (2 * Math.PI * 200)], 0.999, 1);
  const [point, tangent] = [line.pointAt(300), line.unitTangentAt(300)];
  assertWithin([point.x * tangent.x + point.y * tangent.y], -1, 1);
  assertWithin([Math.hypot(tangent.x, tangent.y)], 1 - 1e-12, 1 + 1e-12);
});

test("arc lengths wrap into [0, L)", () => {
  const line = new CentreLine(ringFile().controlPoints);
  assert.equal(line.wrap(line.totalLength), 0);
  assert.equal(line.wrap(-1), line.totalLength - 1);
  assert.equal(line.wrap(-1e-20), 0);
  assert.deepEqual(line.pointAt(-3), line.pointAt(line.totalLength - 3));
});

test("half-width is linear in arc length, back to the first control point's", () => {
  const points = ringFile(200, 20, 4).controlPoints.map((point, i) => ({ ...point, halfWidth: 10 * (i + 1) }));
  const line = new CentreLine(points);
  const [first, last] = [line.lengths[20], line.lengths[60]];
  assert.equal(line.halfWidthAt(0), 10);
  assertWithin([line.halfWidthAt(first / 2)], 15 - 1e-9, 15 + 1e-9);
  assertWithin([line.halfWidthAt((last + line.totalLength) / 2)], 25 - 1e-9, 25 + 1e-9);
});

test("walls stand half-width and offset away, road edges half-width, and the outer wall is the larger", () => {
  const geometry = new TrackGeometry(ringFile(200, 20, 24), WALL_OFFSET);
  assertWithin(radii(geometry.outerWall), 249, 250.5);
  assertWithin(radii(geometry.innerWall), 149, 150.5);
  assertWithin(radii(geometry.outerRoadEdge), 219, 220.5);
  assertWithin(radii(geometry.innerRoadEdge), 179, 180.5);
});

test("driving the other way round keeps inner and outer", () => {
  const file = ringFile(200, 20, 24);
  const reverse = { ...file, controlPoints: file.controlPoints.toReversed() };
  const geometry = new TrackGeometry(reverse, WALL_OFFSET);
  assertWithin(radii(geometry.outerWall), 249, 250.5);
  assertWithin(radii(geometry.innerRoadEdge), 179, 180.5);
});

test("the inner wall of a tight curve keeps off its centre", () => {
  const geometry = new TrackGeometry(ringFile(40, 20, 24), WALL_OFFSET);
  assertWithin(radii(geometry.innerWall), 2, 6);
  assertWithin(radii(geometry.outerWall), 88, 91);
});

test("polylines are closed", () => {
  const geometry = new TrackGeometry(ringFile(), WALL_OFFSET);
  for (const { x, y } of [geometry.innerWall, geometry.outerWall, geometry.innerRoadEdge, geometry.outerRoadEdge]) {
    assert.equal(x.length, 201);
    assert.deepEqual([x[200], y[200]], [x[0], y[0]]);
  }
});

test("gates stand evenly, from the inner wall to the outer", () => {
  const { gates, totalLength } = new TrackGeometry(ringFile(), WALL_OFFSET);
  assert.equal(gates.count, 30);
  for (let i = 0; i < gates.count; i++) {
    assertWithin([gates.arcLength[i] - (i * totalLength) / 30], -1e-9, 1e-9);
    assertWithin([Math.hypot(gates.leftX[i], gates.leftY[i])], 145, 151);
    assertWithin([Math.hypot(gates.rightX[i], gates.rightY[i])], 245, 251);
  }
});

test("the start is the first control point, along the centre line", () => {
  const { start } = new TrackGeometry(ringFile(), WALL_OFFSET);
  assert.deepEqual([start.x, start.y], [200, 0]);
  assertWithin([start.heading], Math.PI / 2 - 1e-9, Math.PI / 2 + 1e-9);
});

test("the box filter is a mean on a ring", () => {
  const impulse = Float64Array.of(9, 0, 0, 0, 0, 0);
  assert.deepEqual([...circularBoxFilter(impulse, 1)], [3, 3, 0, 0, 0, 3]);
});
