/** Draws what does not move: grass, road, kerbs, start line, walls. */

import { drawSpecks, drawStripes } from "./grain.js";
import type { Outline, Point } from "./outline.js";
import { BLACK, type Palette, WHITE } from "./palette.js";
import type { Box } from "./view.js";

const EDGE_WIDTH = 0.9; // units; the white line along the road
const WALL_WIDTH = 2;
const DASH = [4, 12] as const; // points of the centre line: of a dash, and from one to the next

/** The ground of one track in one palette, drawn in world coordinates. */
export class Ground {
  private readonly runoff: Path2D;
  private readonly shoulder: Path2D;
  private readonly road: Path2D;
  private readonly edges: Path2D;
  private readonly walls: Path2D;
  private readonly grooves: readonly Path2D[];
  private readonly seams = new Path2D();
  private readonly dashes: Path2D;
  private readonly kerbs = new Path2D();
  private readonly lightKerbs = new Path2D();
  private readonly startBand: Path2D;
  private readonly startSquares = new Path2D();

  constructor(
    outline: Outline,
    private readonly palette: Palette,
  ) {
    this.runoff = ring(outline.walls);
    this.shoulder = ring(outline.shoulders);
    this.road = ring(outline.roadEdges);
    this.edges = lines(outline.roadEdges);
    this.walls = lines(outline.walls);
    this.grooves = outline.grooves.map(ring);
    for (const [from, to] of outline.seams) addLine(this.seams, [from, to]);
    this.dashes = dashes(outline.centre);
    for (const { corners, isLight } of outline.kerbs) addPolygon(isLight ? this.lightKerbs : this.kerbs, corners);
    this.startBand = addPolygon(new Path2D(), outline.startBand);
    for (const square of outline.startSquares) addPolygon(this.startSquares, square);
  }

  /** Draw what a box shows, at a scale in pixels per unit; the canvas draws in world coordinates already. */
  draw(context: CanvasRenderingContext2D, box: Box, scale: number): void {
    const { palette } = this;
    context.fillStyle = palette.outside;
    context.fillRect(box.left, box.bottom, box.right - box.left, box.top - box.bottom);
    drawStripes(context, box);
    context.lineJoin = "round";
    context.strokeStyle = palette.wallShadow;
    context.lineWidth = WALL_WIDTH * 2.6;
    context.stroke(this.walls);
    fill(context, this.runoff, palette.runoff);
    fill(context, this.shoulder, palette.shoulder);
    fill(context, this.road, palette.road);
    for (const groove of this.grooves) fill(context, groove, "rgb(0 0 0 / 0.1)");
    drawSpecks(context, box, scale);
    this.drawMarks(context);
    fill(context, this.kerbs, palette.kerb);
    fill(context, this.lightKerbs, palette.kerbLight);
    fill(context, this.startBand, WHITE);
    fill(context, this.startSquares, BLACK);
    this.drawWalls(context);
  }

  /** Seams across the road, the dashes in its middle, and the lines along its edges. */
  private drawMarks(context: CanvasRenderingContext2D): void {
    const { palette } = this;
    context.lineWidth = 0.5;
    context.strokeStyle = "rgb(0 0 0 / 0.16)";
    context.stroke(this.seams);
    context.strokeStyle = palette.centreLine;
    context.stroke(this.dashes);
    context.strokeStyle = palette.roadEdge;
    context.lineWidth = EDGE_WIDTH;
    context.stroke(this.edges);
  }

  private drawWalls(context: CanvasRenderingContext2D): void {
    const { palette } = this;
    context.save();
    context.translate(0.9, -1.1); // the sun stands in the north-west
    context.strokeStyle = "rgb(0 0 0 / 0.3)";
    context.lineWidth = WALL_WIDTH;
    context.stroke(this.walls);
    context.restore();
    context.strokeStyle = palette.wall;
    context.lineWidth = WALL_WIDTH;
    context.stroke(this.walls);
  }
}

function fill(context: CanvasRenderingContext2D, path: Path2D, colour: string): void {
  context.fillStyle = colour;
  context.fill(path);
}

/** The band between two closed lines: what one winds around more often than the other, also where a track crosses itself. */
function ring([first, second]: readonly [readonly Point[], readonly Point[]]): Path2D {
  const path = lines([first]);
  path.addPath(lines([[...second].reverse()]));
  return path;
}

/** Closed lines, rounded at their points. */
function lines(all: readonly (readonly Point[])[]): Path2D {
  const path = new Path2D();
  for (const points of all) {
    const middle = (i: number): Point => {
      const [a, b] = [points[i % points.length], points[(i + 1) % points.length]];
      return [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    };
    path.moveTo(...middle(0));
    for (let i = 1; i <= points.length; i++) path.quadraticCurveTo(...points[i % points.length], ...middle(i));
    path.closePath();
  }
  return path;
}

function addPolygon(path: Path2D, corners: readonly Point[]): Path2D {
  addLine(path, corners);
  path.closePath();
  return path;
}

function addLine(path: Path2D, points: readonly Point[]): void {
  path.moveTo(...points[0]);
  for (const point of points.slice(1)) path.lineTo(...point);
}

function dashes(centre: readonly Point[]): Path2D {
  const path = new Path2D();
  const [length, period] = DASH;
  for (let first = 0; first + length < centre.length; first += period) {
    addLine(path, centre.slice(first, first + length + 1));
  }
  return path;
}
