import { afterAll, beforeEach, expect, it, vi } from "vitest";
import { Backdrop } from "../../src/drawing/backdrop.js";
import type { Ground } from "../../src/drawing/ground.js";

const VIEW = { x: 0, y: 0, scale: 2, turn: 0, anchorX: 50, anchorY: 50, width: 100, height: 100 };

const canvas = { width: 100, height: 100 };
const copy = vi.fn();
const context = { canvas, save() {}, restore() {}, resetTransform() {}, drawImage: copy };
const draw = vi.fn();
let backdrop: Backdrop;

/** What a frame does: draw the ground, or copy the picture of it. */
function frame(view = VIEW): string {
  vi.clearAllMocks();
  backdrop.draw(context as unknown as CanvasRenderingContext2D, view);
  return `${draw.mock.calls.length} drawn, ${copy.mock.calls.length} copied`;
}

beforeEach(() => {
  vi.stubGlobal("document", { createElement: () => ({ getContext: () => ({ drawImage() {} }) }) });
  backdrop = new Backdrop({ draw } as unknown as Ground);
  Object.assign(canvas, { width: 100, height: 100 });
});

afterAll(() => {
  vi.unstubAllGlobals();
});

it("is drawn anew while the view moves", () => {
  for (let x = 0; x < 4; x++) expect(frame({ ...VIEW, x })).toBe("1 drawn, 0 copied");
});

it("is a picture from the third frame of one view", () => {
  expect([frame(), frame(), frame(), frame()].map((done) => done[0])).toEqual(["1", "1", "0", "0"]);
  expect(frame()).toBe("0 drawn, 1 copied");
});

it("is drawn anew where the view has moved, or the canvas has other pixels", () => {
  for (let i = 0; i < 3; i++) frame();
  expect(frame({ ...VIEW, turn: 0.1 })).toBe("1 drawn, 0 copied");
  for (let i = 0; i < 3; i++) frame();
  canvas.width = 200;
  expect(frame()).toBe("1 drawn, 0 copied");
});
