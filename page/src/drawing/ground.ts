/** Draws what does not move: grass, road, kerbs, start line, walls. */

import type { Outline, Point } from "./outline.js";
import { BLACK, type Palette, WHITE } from "./palette.js";
import { asphalt, grass, gravel, UNITS } from "./texture.js";
import type { Box } from "./view.js";

const EDGE_WIDTH = 0.9; // units; the white line along the road
const WALL_WIDTH = 2;
const SEAM = 24; // units between the seams of the asphalt
const GROOVE = 9; // units; where tyres have left rubber

/** The ground of one track in one palette, drawn in world coordinates. */
export class Ground {
  readonly bounds: Box;
  private readonly runoff: Path2D;
  private readonly shoulder: Path2D;
  private readonly road: Path2D;
  private readonly edges: Path2D;
  private readonly walls: Path2D;
  private readonly centre: Path2D;
  private readonly kerbs = new Path2D();
  private readonly lightKerbs = new Path2D();
  private readonly startBand: Path2D;
  private readonly startSquares = new Path2D();
  private readonly textures: Record<"outside" | "runoff" | "shoulder" | "road", HTMLCanvasElement>;

  constructor(
    outline: Outline,
    private readonly palette: Palette,
  ) {
    this.bounds = outline.bounds;
    this.runoff = ring(outline.walls);
    this.shoulder = ring(outline.shoulders);
    this.road = ring(outline.roadEdges);
    this.edges = lines(outline.roadEdges);
    this.walls = lines(outline.walls);
    this.centre = lines([outline.centre]);
    for (const { corners, isLight } of outline.kerbs) addPolygon(isLight ? this.lightKerbs : this.kerbs, corners);
    this.startBand = addPolygon(new Path2D(), outline.startBand);
    for (const square of outline.startSquares) addPolygon(this.startSquares, square);
    this.textures = {
      outside: grass(palette.outside),
      runoff: gravel(palette.runoff),
      shoulder: gravel(palette.shoulder),
      road: asphalt(palette.road),
    };
  }

  /** Draw a part of the world; the canvas draws in world coordinates already. */
  draw(context: CanvasRenderingContext2D, { left, bottom, right, top }: Box): void {
    const { palette } = this;
    context.fillStyle = this.pattern(context, "outside");
    context.fillRect(left, bottom, right - left, top - bottom);
    context.lineJoin = "round";
    context.strokeStyle = palette.wallShadow;
    context.globalAlpha = 0.55;
    context.lineWidth = WALL_WIDTH * 2.6;
    context.stroke(this.walls);
    context.globalAlpha = 1;
    this.fill(context, this.runoff, "runoff");
    this.fill(context, this.shoulder, "shoulder");
    this.fill(context, this.road, "road");
    this.drawMarks(context);
    context.fillStyle = palette.kerb;
    context.fill(this.kerbs);
    context.fillStyle = palette.kerbLight;
    context.fill(this.lightKerbs);
    context.fillStyle = WHITE;
    context.fill(this.startBand);
    context.fillStyle = BLACK;
    context.fill(this.startSquares);
    this.drawWalls(context);
  }

  /** The groove of rubber, seams across the road, the dashes in its middle, and the lines along its edges. */
  private drawMarks(context: CanvasRenderingContext2D): void {
    const { palette } = this;
    context.save();
    context.clip(this.road);
    context.lineCap = "butt";
    context.strokeStyle = "rgb(0 0 0 / 0.09)";
    for (const width of [GROOVE, GROOVE * 2]) {
      context.lineWidth = width;
      context.stroke(this.centre);
    }
    context.strokeStyle = "rgb(0 0 0 / 0.13)";
    context.setLineDash([0.5, SEAM - 0.5]);
    context.lineWidth = 40;
    context.stroke(this.centre);
    context.strokeStyle = palette.centreLine;
    context.setLineDash([8, 16]);
    context.lineWidth = 0.5;
    context.stroke(this.centre);
    context.restore();
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

  private fill(context: CanvasRenderingContext2D, path: Path2D, name: keyof Ground["textures"]): void {
    context.fillStyle = this.pattern(context, name);
    context.fill(path);
  }

  private pattern(context: CanvasRenderingContext2D, name: keyof Ground["textures"]): CanvasPattern | string {
    const texture = this.textures[name];
    const pattern = context.createPattern(texture, "repeat");
    pattern?.setTransform(new DOMMatrix().scale(UNITS / texture.width));
    return pattern ?? this.palette[name];
  }
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
  path.moveTo(...corners[0]);
  for (const corner of corners.slice(1)) path.lineTo(...corner);
  path.closePath();
  return path;
}
