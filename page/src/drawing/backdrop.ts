/** The ground behind all that moves: drawn anew while the view moves, and a picture while it stands still. */

import type { Ground } from "./ground.js";
import { boxOf, type View } from "./view.js";

/** Draws the ground of one track in one palette. */
export class Backdrop {
  /** What the last view showed, if it was the one before it too. */
  private picture: HTMLCanvasElement | null = null;
  private last = "";

  constructor(private readonly ground: Ground) {}

  /** Draw what a view shows over all of a canvas, which draws in world coordinates already. */
  draw(context: CanvasRenderingContext2D, view: View): void {
    const { canvas } = context;
    const seen = [...Object.values(view), canvas.width, canvas.height].join();
    const isStill = seen === this.last;
    this.last = seen;
    if (isStill && this.picture !== null) {
      context.save();
      context.resetTransform();
      context.drawImage(this.picture, 0, 0);
      context.restore();
      return;
    }
    this.ground.draw(context, boxOf(view), view.scale);
    this.picture = isStill ? copyOf(canvas) : null;
  }
}

function copyOf(canvas: HTMLCanvasElement): HTMLCanvasElement {
  const copy = document.createElement("canvas");
  copy.width = canvas.width;
  copy.height = canvas.height;
  copy.getContext("2d", { alpha: false })?.drawImage(canvas, 0, 0);
  return copy;
}
