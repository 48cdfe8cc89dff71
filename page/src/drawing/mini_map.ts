/** The small map: the track's line, and a dot for each car. */

import { wholeView } from "./camera.js";
import type { Screen } from "./canvas.js";
import type { Outline } from "./outline.js";
import type { Palette } from "./palette.js";
import { pixelOf } from "./view.js";

/** A dot on the map. */
export interface Dot {
  readonly x: number;
  readonly y: number;
  readonly colour: string;
  readonly isLarge: boolean;
}

/** Draw a track and some dots, the last on top. */
export function drawMiniMap(screen: Screen, outline: Outline, dots: readonly Dot[], palette: Palette): void {
  if (!screen.fit()) return;
  const { context } = screen;
  screen.usePixels();
  context.clearRect(0, 0, screen.width, screen.height);
  const view = wholeView(outline.bounds, screen);
  context.beginPath();
  for (const [x, y] of outline.centre) context.lineTo(...pixelOf(view, x, y));
  context.closePath();
  context.lineJoin = "round";
  for (const [width, colour] of [
    [7, palette.panelLine],
    [4, palette.textDim],
  ] as const) {
    context.lineWidth = width;
    context.strokeStyle = colour;
    context.stroke();
  }
  drawStart(context, outline, palette, (x, y) => pixelOf(view, x, y));
  for (const { x, y, colour, isLarge } of dots) {
    context.beginPath();
    context.arc(...pixelOf(view, x, y), isLarge ? 5.5 : 4, 0, 2 * Math.PI);
    context.fillStyle = colour;
    context.fill();
    context.lineWidth = 1.5;
    context.strokeStyle = palette.panel;
    context.stroke();
  }
}

function drawStart(
  context: CanvasRenderingContext2D,
  outline: Outline,
  palette: Palette,
  place: (x: number, y: number) => [number, number],
): void {
  const [from, to] = [place(...outline.centre[0]), place(...outline.centre[1])];
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy) || 1;
  const [acrossX, acrossY] = [(-dy / length) * 7, (dx / length) * 7];
  context.beginPath();
  context.moveTo(from[0] - acrossX, from[1] - acrossY);
  context.lineTo(from[0] + acrossX, from[1] + acrossY);
  context.lineWidth = 2;
  context.strokeStyle = palette.text;
  context.stroke();
}
