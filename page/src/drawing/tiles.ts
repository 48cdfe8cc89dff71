/**
 * The ground as square pictures, each drawn once: so a frame costs one copy of the screen, however rich the ground is.
 */

import type { Ground } from "./ground.js";
import { type Box, boxOf, pixelOf, type View } from "./view.js";

const PIXELS = 512; // a side of a tile
const OVERLAP = 1; // pixels beyond each side, so that no seam is seen between turned tiles
const MOST = 56; // tiles that are kept: 56 MB
const AHEAD = 240; // CSS pixels beyond the view whose tiles are drawn before they are needed
const AHEAD_EVERY = 3; // frames between two such tiles, as one takes about as long as a frame
const FINEST = 12; // pixels per unit
const COARSEST = 0.05;
const SOFT = 1.08; // how much a tile may be enlarged without looking blurred

/** Draws the ground of one track, at any scale and turn. */
export class Tiles {
  /** By level and place, in the order of their last use. */
  private readonly tiles = new Map<string, HTMLCanvasElement>();

  private level = 0;
  private frames = 0;

  constructor(private readonly ground: Ground) {}

  /** Draw what a view shows; the canvas draws in world coordinates already. */
  draw(context: CanvasRenderingContext2D, view: View, density: number): void {
    this.level = levelFor(view.scale * density, this.level);
    const scale = this.level;
    const side = PIXELS / scale;
    const border = OVERLAP / scale;
    for (const [column, row] of placesIn(boxOf(view), side)) {
      if (!isSeen(view, column, row, side)) continue;
      const tile = this.tile(scale, column, row);
      context.drawImage(tile, column * side - border, row * side - border, side + 2 * border, side + 2 * border);
    }
    this.frames += 1;
    if (this.frames % AHEAD_EVERY !== 0) return;
    const next = placesIn(boxOf(view, AHEAD), side).find(([column, row]) => !this.tiles.has(key(scale, column, row)));
    if (next !== undefined) this.tile(scale, ...next);
  }

  private tile(scale: number, column: number, row: number): HTMLCanvasElement {
    const name = key(scale, column, row);
    const tile = this.tiles.get(name) ?? this.make(scale, column, row);
    this.tiles.delete(name);
    this.tiles.set(name, tile);
    for (const oldest of this.tiles.keys()) {
      if (this.tiles.size <= MOST) break;
      this.tiles.delete(oldest);
    }
    return tile;
  }

  private make(scale: number, column: number, row: number): HTMLCanvasElement {
    const tile = document.createElement("canvas");
    tile.width = PIXELS + 2 * OVERLAP;
    tile.height = PIXELS + 2 * OVERLAP;
    const context = tile.getContext("2d", { alpha: false });
    const side = PIXELS / scale;
    const border = OVERLAP / scale;
    const [left, bottom] = [column * side - border, row * side - border];
    context?.setTransform(scale, 0, 0, scale, -left * scale, -bottom * scale);
    const box = { left, bottom, right: left + side + 2 * border, top: bottom + side + 2 * border };
    if (context) this.ground.draw(context, box);
    return tile;
  }
}

/**
 * The scale at which tiles are drawn for a scale on the screen: a power of the root of 2, fine enough.
 *
 * @param present The one in use, which stays as long as it is fine enough and not twice too fine: a camera that zooms
 *   a little does not have everything drawn anew.
 */
export function levelFor(scale: number, present: number): number {
  const wanted = Math.min(Math.max(scale, COARSEST), FINEST);
  if (present * SOFT >= wanted && present <= 2 * wanted) return present;
  return 2 ** (Math.ceil(Math.log2(wanted / SOFT) * 2) / 2);
}

/** Columns and rows of the tiles that a box touches. */
function placesIn({ left, bottom, right, top }: Box, side: number): [number, number][] {
  const places: [number, number][] = [];
  for (let row = Math.floor(bottom / side); row <= Math.floor(top / side); row++) {
    for (let column = Math.floor(left / side); column <= Math.floor(right / side); column++) places.push([column, row]);
  }
  return places;
}

/** Whether a view shows anything of a tile; a turned view does not show all of the box that it is in. */
function isSeen(view: View, column: number, row: number, side: number): boolean {
  const [x, y] = pixelOf(view, (column + 0.5) * side, (row + 0.5) * side);
  const reach = Math.SQRT1_2 * side * view.scale;
  return x > -reach && x < view.width + reach && y > -reach && y < view.height + reach;
}

function key(scale: number, column: number, row: number): string {
  return `${scale} ${column} ${row}`;
}
