/** The lines of a track that are drawn, from its geometry. Lengths in units. */

import type { Polyline, TrackGeometry } from "../../../bridge/src/engine/geometry.js";
import { boundsOf } from "../../../bridge/src/engine/walls.js";
import type { Box } from "./view.js";

const SHOULDER_WIDTH = 24; // units beyond the road's edge, as in the game
const WALL_GAP = 1.5; // units kept between shoulder and wall
const KERB_WIDTH = 2.6;
const KERB_LENGTH = 4; // of each block
const KERB_RADIUS = 150; // of the centre line, below which a curve has kerbs
const KERB_REACH = 24; // units of the centre line to either side by which a curve's radius is measured
const GROOVES = [0.36, 0.18]; // shares of the way from the middle to the road's edge
const SEAM = 24; // units between two seams of the asphalt
const STEP = 2; // units along the centre line

/** A point in the world. */
export type Point = readonly [number, number];

/** A block of a kerb: four corners. */
export interface Kerb {
  readonly corners: readonly Point[];
  readonly isLight: boolean;
}

/** What is drawn of a track, as closed lines without a repeated end. */
export interface Outline {
  readonly bounds: Box;
  readonly walls: readonly [Point[], Point[]];
  readonly shoulders: readonly [Point[], Point[]];
  readonly roadEdges: readonly [Point[], Point[]];
  readonly centre: readonly Point[];
  /** Bands in the middle of the road, where tyres have left rubber, the wide one first. */
  readonly grooves: readonly (readonly [Point[], Point[]])[];
  /** Lines across the road. */
  readonly seams: readonly (readonly [Point, Point])[];
  readonly kerbs: readonly Kerb[];
  /** Squares of the start line that are black; `startBand` is the white below them. */
  readonly startSquares: readonly (readonly Point[])[];
  readonly startBand: readonly Point[];
}

/** Gather what is drawn of a track. */
export function outlineOf(geometry: TrackGeometry): Outline {
  const { centreLine, totalLength } = geometry;
  const inner = pointsOf(geometry.innerWall);
  const outer = pointsOf(geometry.outerWall);
  const edges = [pointsOf(geometry.innerRoadEdge), pointsOf(geometry.outerRoadEdge)] as const;
  const samples = inner.length;
  const axis = Array.from({ length: samples }, (_, i): Point => {
    const { x, y } = centreLine.pointAt((i * totalLength) / samples);
    return [x, y];
  });
  const centre = Array.from({ length: Math.floor(totalLength / STEP) }, (_, i): Point => {
    const { x, y } = centreLine.pointAt(i * STEP);
    return [x, y];
  });
  const bounds = boundsOf(geometry.outerWall.x, geometry.outerWall.y);
  return {
    bounds: { left: bounds.lowX, right: bounds.highX, bottom: bounds.lowY, top: bounds.highY },
    walls: [inner, outer],
    shoulders: [shoulder(axis, edges[0], inner), shoulder(axis, edges[1], outer)],
    roadEdges: [...edges],
    centre,
    grooves: GROOVES.map((share) => [beside(axis, edges[0], share), beside(axis, edges[1], share)] as const),
    seams: placesAlong(axis, SEAM).map((place) => [pointAt(edges[0], place), pointAt(edges[1], place)] as const),
    kerbs: edges.flatMap((edge) => kerbsOf(axis, edge)),
    ...startLine(geometry),
  };
}

function pointsOf({ x, y }: Polyline): Point[] {
  return Array.from({ length: x.length - 1 }, (_, i) => [x[i], y[i]] as const);
}

/** The end of the shoulder on one side: 24 units beyond the road's edge, or as far as the wall lets it. */
function shoulder(axis: readonly Point[], edge: readonly Point[], wall: readonly Point[]): Point[] {
  return axis.map((from, i) => {
    const reach = Math.min(distance(from, edge[i]) + SHOULDER_WIDTH, distance(from, wall[i]) - WALL_GAP);
    return towards(from, wall[i], reach);
  });
}

/** A line that runs a share of the way from the middle to the road's edge. */
function beside(axis: readonly Point[], edge: readonly Point[], share: number): Point[] {
  return axis.map((from, i) => between(from, edge[i], share));
}

/** Blocks of one length along the road's edge where the track turns. */
function kerbsOf(axis: readonly Point[], edge: readonly Point[]): Kerb[] {
  const kerbs: Kerb[] = [];
  const reach = Math.max(1, Math.round(KERB_REACH / distance(axis[0], axis[1])));
  const places = placesAlong(edge, KERB_LENGTH);
  for (const [block, from] of places.entries()) {
    const to = places[(block + 1) % places.length];
    if (radiusAt(axis, Math.floor(from), reach) >= KERB_RADIUS) continue;
    const [a, b] = [pointAt(edge, from), pointAt(edge, to)];
    const corners = [a, b, towards(b, pointAt(axis, to), KERB_WIDTH), towards(a, pointAt(axis, from), KERB_WIDTH)];
    kerbs.push({ corners, isLight: block % 2 === 0 });
  }
  return kerbs;
}

/** Where a closed line is as far along as a multiple of about `step` units: numbers of points, with a fraction. */
function placesAlong(line: readonly Point[], step: number): number[] {
  const lengths = line.map((point, i) => distance(point, line[(i + 1) % line.length]));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const count = 2 * Math.round(total / step / 2); // even, as two colours take turns
  const places: number[] = [];
  let begin = 0;
  for (const [i, length] of lengths.entries()) {
    for (let next = (places.length * total) / count; places.length < count && next < begin + length; ) {
      places.push(i + (next - begin) / length);
      next = (places.length * total) / count;
    }
    begin += length;
  }
  return places;
}

/** The point of a closed line at the number of a point with a fraction. */
function pointAt(line: readonly Point[], place: number): Point {
  const i = Math.floor(place);
  return between(line[i % line.length], line[(i + 1) % line.length], place - i);
}

/** The radius of the circle through a point and two others, so many points before and after it. */
function radiusAt(points: readonly Point[], i: number, reach: number): number {
  const n = points.length;
  const [a, b, c] = [points[(i + n - reach) % n], points[i], points[(i + reach) % n]];
  const cross = Math.abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
  return (distance(a, b) * distance(b, c) * distance(a, c)) / Math.max(2 * cross, 1e-9);
}

function startLine(geometry: TrackGeometry): Pick<Outline, "startBand" | "startSquares"> {
  const square = 3;
  const { x, y } = geometry.centreLine.pointAt(0);
  const along = geometry.centreLine.unitTangentAt(0);
  const half = geometry.centreLine.halfWidthAt(0);
  const at = (forward: number, left: number): Point => [
    x + along.x * forward - along.y * left,
    y + along.y * forward + along.x * left,
  ];
  const count = Math.round((2 * half) / square);
  const width = (2 * half) / count;
  const box = (forward: number, left: number, length: number, across: number): Point[] => [
    at(forward, left),
    at(forward + length, left),
    at(forward + length, left + across),
    at(forward, left + across),
  ];
  const startSquares: Point[][] = [];
  for (let row = 0; row < 2; row++) {
    for (let column = row; column < count; column += 2) {
      startSquares.push(box(row * square, -half + column * width, square, width));
    }
  }
  return { startBand: box(0, -half, 2 * square, 2 * half), startSquares };
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}

function between(a: Point, b: Point, share: number): Point {
  return [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share];
}

/** The point that is so far from one towards another. */
function towards(from: Point, to: Point, reach: number): Point {
  const length = distance(from, to);
  return length === 0 ? from : between(from, to, reach / length);
}
