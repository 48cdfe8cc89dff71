/** Everything about a track that follows from its control points: walls, road edges, gates, start. Lengths in units. */

import { CentreLine, type ControlPoint, type Vector } from "./centre_line.js";

const MIN_BOUNDARY_SAMPLES = 200;
const BOUNDARY_SAMPLES_PER_POINT = 12;
const MIN_CURVATURE = 1e-8; // 1/units; below it a line is straight
const INNER_CLEARANCE = 4; // units kept between a wall and the centre of its curve, and between centre line and wall
const EDGE_CLEARANCE = 2; // units between road edge and wall where the wall limits the road
const REDUCTION_RADIUS = 10; // samples; box filter of the walls' distances
const REDUCTION_PASSES = 3;
const POLYLINE_RADIUS = 4; // samples; box filter of the finished polylines
const POLYLINE_PASSES = 2;
const MIN_GATE_REACH = 5; // samples to either side of a gate's centre among which its ends are looked for

/** A polyline whose last point is its first; both arrays have S + 1 entries. */
export interface Polyline {
  readonly x: Float64Array;
  readonly y: Float64Array;
}

/** The checkpoints, one entry each. */
export interface Gates {
  readonly count: number;
  /** end on the inner wall */
  readonly leftX: Float64Array;
  readonly leftY: Float64Array;
  /** end on the outer wall */
  readonly rightX: Float64Array;
  readonly rightY: Float64Array;
  /** point of the centre line */
  readonly centreX: Float64Array;
  readonly centreY: Float64Array;
  /** unit tangent of the centre line there */
  readonly directionX: Float64Array;
  readonly directionY: Float64Array;
  readonly arcLength: Float64Array;
}

/** What a track's shape is made from: control points in driving order, the first at the start line, and gates. */
export interface TrackShape {
  readonly checkpointCount: number;
  readonly controlPoints: readonly ControlPoint[];
}

/** The geometry of one track. */
export class TrackGeometry {
  readonly centreLine: CentreLine;
  /** Length of the centre line. */
  readonly totalLength: number;
  readonly innerWall: Polyline;
  readonly outerWall: Polyline;
  readonly innerRoadEdge: Polyline;
  readonly outerRoadEdge: Polyline;
  readonly gates: Gates;
  /** The standing start; heading in radians. */
  readonly start: { readonly x: number; readonly y: number; readonly heading: number };

  /** Build from a track's shape and the distance of a wall from the road's edge. */
  constructor({ checkpointCount, controlPoints }: TrackShape, wallOffset: number) {
    this.centreLine = new CentreLine(controlPoints);
    this.totalLength = this.centreLine.totalLength;
    const samples = Math.max(MIN_BOUNDARY_SAMPLES, BOUNDARY_SAMPLES_PER_POINT * controlPoints.length);
    const sides = boundaries(this.centreLine, samples, wallOffset);
    if (absoluteArea(sides[0].wall) > absoluteArea(sides[1].wall)) sides.reverse();
    const [inner, outer] = sides;
    this.innerWall = closed(inner.wall);
    this.outerWall = closed(outer.wall);
    this.innerRoadEdge = closed(inner.roadEdge);
    this.outerRoadEdge = closed(outer.roadEdge);
    this.gates = makeGates(this.centreLine, checkpointCount, inner.wall, outer.wall);
    const tangent = this.centreLine.unitTangentAt(0);
    this.start = { ...this.centreLine.pointAt(0), heading: Math.atan2(tangent.y, tangent.x) };
  }
}

interface Side {
  readonly wall: Polyline;
  readonly roadEdge: Polyline;
}

/** The walls and road edges to the left and to the right of the centre line, not closed yet. */
function boundaries(line: CentreLine, samples: number, wallOffset: number): [Side, Side] {
  const distances = Float64Array.from({ length: samples }, (_, i) => (i * line.totalLength) / samples);
  const halfWidths = distances.map((distance) => line.halfWidthAt(distance));
  const walls = halfWidths.map((halfWidth) => halfWidth + wallOffset);
  const [left, right] = innerReductions(line, distances, walls);
  return [
    makeSide(line, distances, halfWidths, walls, left, 1),
    makeSide(line, distances, halfWidths, walls, right, -1),
  ];
}

/** Build one side; `direction` is 1 to the left, -1 to the right. */
function makeSide(
  line: CentreLine,
  distances: Float64Array,
  halfWidths: Float64Array,
  walls: Float64Array,
  reductions: Float64Array,
  direction: 1 | -1,
): Side {
  const reaches = walls.map((wall, i) => Math.max(INNER_CLEARANCE, wall - reductions[i]));
  const roads = halfWidths.map((halfWidth, i) => Math.min(halfWidth, reaches[i] - EDGE_CLEARANCE));
  const centres = Array.from(distances, (distance) => line.pointAt(distance));
  const tangents = Array.from(distances, (distance) => line.unitTangentAt(distance));
  const beside = (offsets: Float64Array): Polyline => ({
    x: filtered(
      offsets.map((offset, i) => centres[i].x - direction * tangents[i].y * offset),
      POLYLINE_RADIUS,
      POLYLINE_PASSES,
    ),
    y: filtered(
      offsets.map((offset, i) => centres[i].y + direction * tangents[i].x * offset),
      POLYLINE_RADIUS,
      POLYLINE_PASSES,
    ),
  });
  return { wall: beside(reaches), roadEdge: beside(roads) };
}

/** How much nearer the left and the right wall stand than `walls`, so that none folds in a curve. */
function innerReductions(
  line: CentreLine,
  distances: Float64Array,
  walls: Float64Array,
): [left: Float64Array, right: Float64Array] {
  const left = new Float64Array(distances.length);
  const right = new Float64Array(distances.length);
  for (let i = 0; i < distances.length; i++) {
    const signed = signedRadius(line, distances[i], line.totalLength / (2 * distances.length));
    const radius = Math.abs(signed);
    if (radius >= walls[i] + INNER_CLEARANCE) continue;
    const room = Math.max(INNER_CLEARANCE, radius - INNER_CLEARANCE);
    const inside = signed > 0 ? left : right;
    inside[i] = walls[i] - Math.min(walls[i], room);
  }
  return [filtered(left, REDUCTION_RADIUS, REDUCTION_PASSES), filtered(right, REDUCTION_RADIUS, REDUCTION_PASSES)];
}

/** The radius of curvature at an arc length: positive turns left, infinite is straight. */
function signedRadius(line: CentreLine, distance: number, halfStep: number): number {
  const u = line.unitTangentAt(distance - halfStep);
  const v = line.unitTangentAt(distance + halfStep);
  const angle = Math.acos(Math.min(Math.max(u.x * v.x + u.y * v.y, -1), 1));
  const curvature = angle / (2 * halfStep);
  const radius = curvature > MIN_CURVATURE ? 1 / curvature : Number.POSITIVE_INFINITY;
  return u.x * v.y - u.y * v.x < 0 ? -radius : radius;
}

/** Some passes of `circularBoxFilter`. */
function filtered(values: Float64Array, radius: number, passes: number): Float64Array {
  let result = values;
  for (let pass = 0; pass < passes; pass++) result = circularBoxFilter(result, radius);
  return result;
}

/** The mean over 2 radius + 1 neighbours on a ring, as a running sum, because its rounding is part of the game. */
export function circularBoxFilter(values: Float64Array, radius: number): Float64Array {
  const size = values.length;
  const width = 2 * radius + 1;
  const means = new Float64Array(size);
  let sum = 0;
  for (let i = -radius; i <= radius; i++) sum += values[(i + size) % size];
  for (let i = 0; i < size; i++) {
    means[i] = sum / width;
    sum += values[(i + radius + 1) % size];
    sum -= values[(i - radius + size) % size];
  }
  return means;
}

/** The area that a polyline encloses once it is closed. */
function absoluteArea({ x, y }: Polyline): number {
  let sum = 0;
  for (let i = 0; i < x.length; i++) {
    const next = (i + 1) % x.length;
    sum += x[i] * y[next] - x[next] * y[i];
  }
  return Math.abs(sum) / 2;
}

/** Repeat the first point at the end. */
function closed({ x, y }: Polyline): Polyline {
  const repeated = (values: Float64Array) => {
    const result = new Float64Array(values.length + 1);
    result.set(values);
    result[values.length] = values[0];
    return result;
  };
  return { x: repeated(x), y: repeated(y) };
}

/** Place the gates; the walls are not closed. */
function makeGates(line: CentreLine, count: number, innerWall: Polyline, outerWall: Polyline): Gates {
  const samples = innerWall.x.length;
  const reach = Math.max(MIN_GATE_REACH, Math.ceil(samples / count));
  const arcLength = Float64Array.from({ length: count }, (_, i) => (i * line.totalLength) / count);
  const centres = Array.from(arcLength, (distance) => line.pointAt(distance));
  const directions = Array.from(arcLength, (distance) => line.unitTangentAt(distance));
  const nearby = arcLength.map((distance) => Math.floor((distance / line.totalLength) * samples + 0.5));
  const lefts = centres.map((centre, i) => nearestPoint(innerWall, centre, nearby[i], reach));
  const rights = centres.map((centre, i) => nearestPoint(outerWall, centre, nearby[i], reach));
  const along = (vectors: readonly Vector[], axis: "x" | "y") => Float64Array.from(vectors, (vector) => vector[axis]);
  return {
    count,
    leftX: along(lefts, "x"),
    leftY: along(lefts, "y"),
    rightX: along(rights, "x"),
    rightY: along(rights, "y"),
    centreX: along(centres, "x"),
    centreY: along(centres, "y"),
    directionX: along(directions, "x"),
    directionY: along(directions, "y"),
    arcLength,
  };
}

/** The wall's point nearest to a centre, among the samples up to `reach` before and after one; the first of equals. */
function nearestPoint(wall: Polyline, centre: Vector, sample: number, reach: number): Vector {
  const size = wall.x.length;
  let best = 0;
  let nearest = Number.POSITIVE_INFINITY;
  for (let i = sample - reach; i <= sample + reach; i++) {
    const index = ((i % size) + size) % size;
    const dx = wall.x[index] - centre.x;
    const dy = wall.y[index] - centre.y;
    const distance = Math.sqrt(dx * dx + dy * dy);
    if (distance < nearest) {
      nearest = distance;
      best = index;
    }
  }
  return { x: wall.x[best], y: wall.y[best] };
}
