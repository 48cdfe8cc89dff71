/** From the world, in units with y up, to a canvas, in pixels with y down. */

/** A view straight down. */
export interface View {
  /** World point that is drawn at the anchor. */
  readonly x: number;
  readonly y: number;
  /** CSS pixels per unit. */
  readonly scale: number;
  /** Radians that the world is turned by, counter-clockwise. */
  readonly turn: number;
  /** CSS pixels of the canvas where (x, y) is drawn. */
  readonly anchorX: number;
  readonly anchorY: number;
  /** CSS pixels of the canvas. */
  readonly width: number;
  readonly height: number;
}

/** A rectangle in the world. */
export interface Box {
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
  readonly top: number;
}

/** Let a canvas draw in world coordinates; `density` is its pixels per CSS pixel. */
export function useWorld(context: CanvasRenderingContext2D, view: View, density: number): void {
  const k = view.scale * density;
  const cos = Math.cos(view.turn) * k;
  const sin = Math.sin(view.turn) * k;
  const x = view.anchorX * density - (cos * view.x - sin * view.y);
  const y = view.anchorY * density + (sin * view.x + cos * view.y);
  context.setTransform(cos, -sin, -sin, -cos, x, y);
}

/** The pixel at a world point. */
export function pixelOf(view: View, x: number, y: number): [number, number] {
  const [dx, dy] = [x - view.x, y - view.y];
  const [cos, sin] = [Math.cos(view.turn), Math.sin(view.turn)];
  return [view.anchorX + view.scale * (cos * dx - sin * dy), view.anchorY - view.scale * (sin * dx + cos * dy)];
}

/** The world that a view shows, and a bit more where it is turned. */
export function boxOf(view: View, margin = 0): Box {
  const xs: number[] = [];
  const ys: number[] = [];
  const [cos, sin] = [Math.cos(view.turn), Math.sin(view.turn)];
  for (const [px, py] of [
    [-margin, -margin],
    [view.width + margin, -margin],
    [-margin, view.height + margin],
    [view.width + margin, view.height + margin],
  ]) {
    const u = (px - view.anchorX) / view.scale;
    const v = (view.anchorY - py) / view.scale;
    xs.push(view.x + cos * u + sin * v);
    ys.push(view.y - sin * u + cos * v);
  }
  return { left: Math.min(...xs), right: Math.max(...xs), bottom: Math.min(...ys), top: Math.max(...ys) };
}
