import { expect, it } from "vitest";
import { Camera, wholeView } from "../../src/drawing/camera.js";
import { boxOf, pixelOf } from "../../src/drawing/view.js";

const BOUNDS = { left: -200, right: 200, bottom: -50, top: 50 };
const WIDE = { width: 1000, height: 600 };
const TALL = { width: 400, height: 800 };

it("shows all of a track, on its side where the window is tall", () => {
  for (const size of [WIDE, TALL]) {
    const view = wholeView(BOUNDS, size);
    for (const [x, y] of [
      [-200, -50],
      [200, 50],
    ]) {
      const [px, py] = pixelOf(view, x, y);
      expect(px > 0 && px < size.width && py > 0 && py < size.height).toBe(true);
    }
  }
  expect(wholeView(BOUNDS, TALL).turn).not.toBe(0);
});

it("keeps the track and the car clear of what buttons cover", () => {
  const covered = { top: 50, bottom: 130 };
  const isClear = (y: number) => y > covered.top && y < WIDE.height - covered.bottom;
  const tall = { left: -50, right: 50, bottom: -200, top: 200 };
  const whole = wholeView(tall, { ...WIDE, width: 300 }, covered);
  for (const y of [-200, 200]) expect(isClear(pixelOf(whole, 0, y)[1])).toBe(true);
  const camera = new Camera();
  for (const mode of ["heading", "north"] as const) {
    camera.mode = mode;
    const view = camera.view({ x: 5, y: 6, heading: 2 }, 0, [0, 0], BOUNDS, { width: 600, height: 340 }, 0, covered);
    expect(pixelOf(view, 5, 6)[1]).toBeLessThan(340 - covered.bottom - 20);
  }
});

it("draws what is ahead above the car, heading up", () => {
  const camera = new Camera();
  const view = camera.view({ x: 5, y: 6, heading: 2 }, 0, [0, 0], BOUNDS, WIDE, 0);
  const [carX, carY] = pixelOf(view, 5, 6);
  const [x, y] = pixelOf(view, 5 + 10 * Math.cos(2), 6 + 10 * Math.sin(2));
  expect(x).toBeCloseTo(carX);
  expect(y).toBeLessThan(carY);
  const [left] = pixelOf(view, 5 - 10 * Math.sin(2), 6 + 10 * Math.cos(2));
  expect(left).toBeLessThan(carX);
});

it("draws north above, and looks ahead of a fast car", () => {
  const camera = new Camera();
  camera.mode = "north";
  const pose = { x: 0, y: 0, heading: 0 };
  let view = camera.view(pose, 1, [160, 0], BOUNDS, WIDE, 0);
  for (let frame = 0; frame < 300; frame++) view = camera.view(pose, 1, [160, 0], BOUNDS, WIDE, 1 / 60);
  expect(pixelOf(view, 0, 10)[1]).toBeLessThan(pixelOf(view, 0, 0)[1]);
  expect(pixelOf(view, 0, 0)[0]).toBeLessThan(WIDE.width / 2);
});

it("knows the part of the world that it shows", () => {
  const view = { x: 10, y: 20, scale: 2, turn: Math.PI / 2, anchorX: 100, anchorY: 50, width: 200, height: 100 };
  const { left, right, bottom, top } = boxOf(view);
  expect([left, right, bottom, top].map(Math.round)).toEqual([-15, 35, -30, 70]);
});
