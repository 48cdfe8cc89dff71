/** The look-up tables against plain loops over everything: nothing that they leave out may change a result. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Beams } from "../src/engine/beams.js";
import { Track } from "../src/engine/track.js";
import { gatherWalls } from "../src/engine/walls.js";
import { LIBRARY, makeRandom, PHYSICS, ringFile, ringTrack } from "./engine_helpers.js";

const TOLERANCE = 1e-9;
const POSITIONS = 3000; // per track
const NEAR_WALL = 4; // units
const RAYS = 9;
const RAY_RANGE = 200; // units
const CONTACT_RADIUS = 2; // units

const TRACKS: [string, () => Track][] = [
  ...LIBRARY.ids().map((id): [string, () => Track] => [id, () => LIBRARY.track(id)]),
  ["a ring", ringTrack],
  ["a dense track", denseTrack],
  ["a track that crosses itself", crossingTrack],
];

for (const [name, trackOf] of TRACKS) {
  test(`rays on ${name} meet the same wall as among all segments`, () => {
    const track = trackOf();
    const segments = segmentsOf(track);
    const shares = new Float64Array(RAYS);
    for (const { x, y, heading } of positions(track, 1)) {
      track.rays.cast(x, y, heading, shares, 0);
      for (const [ray, share] of shares.entries()) {
        const angle = heading - Math.PI / 2 + (ray * Math.PI) / 8;
        const expected = plainRay(segments, x, y, Math.cos(angle), Math.sin(angle));
        assertNear(share * RAY_RANGE, expected, `ray ${ray} from (${x}, ${y}) heading ${heading}`);
      }
    }
  });

  test(`contacts on ${name} are the same as among all segments`, () => {
    const track = trackOf();
    const segments = segmentsOf(track);
    let contacts = 0;
    for (const { x, y } of positions(track, 2)) {
      const expected = plainContact(segments, x, y);
      const distance = track.contacts.distance(x, y, CONTACT_RADIUS);
      assertNear(distance, Math.min(expected.distance, CONTACT_RADIUS), `distance from (${x}, ${y})`);
      if (expected.distance >= CONTACT_RADIUS) continue;
      contacts++;
      assertNear(track.contacts.contactX, expected.x, `contact x from (${x}, ${y})`);
      assertNear(track.contacts.contactY, expected.y, `contact y from (${x}, ${y})`);
    }
    assert.ok(contacts > POSITIONS / 10, `only ${contacts} contacts`);
  });

  test(`the nearest centre point on ${name} is the same as among all samples`, () => {
    const track = trackOf();
    for (const { x, y } of positions(track, 3)) {
      const expected = plainCentre(track, x, y);
      track.centre.find(x, y);
      assertNear(track.centre.arcLength, expected.arcLength, `arc length at (${x}, ${y})`);
      assertNear(track.centre.distance, expected.distance, `distance at (${x}, ${y})`);
      const halfWidth = track.geometry.centreLine.halfWidthAt(expected.arcLength);
      assertNear(track.centre.halfWidth, halfWidth, `half-width at (${x}, ${y})`);
    }
  });
}

test("rays start at the edge of a cell, along an axis, as anywhere", () => {
  const track = ringTrack();
  const segments = segmentsOf(track);
  const shares = new Float64Array(RAYS);
  const { x: wallX, y: wallY } = track.geometry.outerWall;
  const low = { x: Math.min(...wallX), y: Math.min(...wallY) };
  for (let cells = 0; cells < 20; cells++) {
    for (const heading of [0, Math.PI / 2, -Math.PI / 2, Math.PI]) {
      const [x, y] = [low.x + 4 * cells, low.y + 4 * (110 - cells)];
      track.rays.cast(x, y, heading, shares, 0);
      const expected = plainRay(segments, x, y, Math.cos(heading), Math.sin(heading));
      assertNear(shares[4] * RAY_RANGE, expected, `from (${x}, ${y}) heading ${heading}`);
    }
  }
});

test("the lists of rays grow with the track's length, not with the number of its points", () => {
  const entriesOf = (count: number) => {
    const walls = gatherWalls(new Track(ringFile(200, 20, count), PHYSICS).geometry);
    return new Beams(walls, RAY_RANGE).stretches.length - walls.x.length;
  };
  const entries = entriesOf(100);
  for (const count of [400, 1600]) assert.ok(entriesOf(count) < 1.5 * entries, `${count} points`);
});

test("rays have lists wherever the centre line goes, where a track crosses itself as well", () => {
  for (const trackOf of [denseTrack, crossingTrack]) {
    const { centreLine, totalLength } = trackOf().geometry;
    const beams = new Beams(gatherWalls(trackOf().geometry), RAY_RANGE);
    for (let arcLength = 0; arcLength < totalLength; arcLength += 1) {
      const { x, y } = centreLine.pointAt(arcLength);
      assert.notEqual(beams.from(x, y), 0, `(${x}, ${y})`);
    }
  }
});

test("the tables of a long and dense track are made in a moment", () => {
  const file = ringFile(2250, 20, 1500);
  const begin = performance.now();
  new Track(file, PHYSICS);
  const seconds = (performance.now() - begin) / 1000;
  assert.ok(seconds < 10, `${seconds} s`); // it takes one; loops over everything take a minute
});

/** A ring with 400 control points, whose wall segments are a fraction of a unit long. */
function denseTrack(): Track {
  return new Track(ringFile(200, 20, 400), PHYSICS);
}

/** A figure of eight. */
function crossingTrack(): Track {
  const controlPoints = Array.from({ length: 40 }, (_, i) => {
    const angle = (2 * Math.PI * i) / 40;
    return { x: 300 * Math.cos(angle), y: 150 * Math.sin(2 * angle), halfWidth: 15 };
  });
  return new Track({ ...ringFile(), controlPoints }, PHYSICS);
}

type Segments = readonly (readonly [ax: number, ay: number, ex: number, ey: number])[];

interface Position {
  readonly x: number;
  readonly y: number;
  readonly heading: number;
}

/** Random positions: a third anywhere around the track, a third on the road and beside it, a third at the walls. */
function positions({ geometry }: Track, seed: number): Position[] {
  const random = makeRandom(seed);
  const spread = (size: number) => (2 * random() - 1) * size;
  const { innerWall, outerWall, centreLine, totalLength } = geometry;
  const extent = Math.max(...outerWall.x.map(Math.abs), ...outerWall.y.map(Math.abs)) + 150;
  return Array.from({ length: POSITIONS }, (_, i) => {
    const heading = spread(4);
    if (i % 3 === 0) return { x: spread(extent), y: spread(extent), heading };
    if (i % 3 === 1) {
      const point = centreLine.pointAt(random() * totalLength);
      return { x: point.x + spread(60), y: point.y + spread(60), heading };
    }
    const wall = i % 2 === 0 ? innerWall : outerWall;
    const point = Math.floor(random() * wall.x.length);
    return { x: wall.x[point] + spread(NEAR_WALL), y: wall.y[point] + spread(NEAR_WALL), heading };
  });
}

/** Every wall segment: begin and way to the end, the inner wall's first. */
function segmentsOf({ geometry }: Track): Segments {
  return [geometry.innerWall, geometry.outerWall].flatMap(({ x, y }) =>
    Array.from(x.subarray(1), (endX, i): Segments[number] => [x[i], y[i], endX - x[i], y[i + 1] - y[i]]),
  );
}

function plainRay(segments: Segments, x: number, y: number, dx: number, dy: number): number {
  let nearest = RAY_RANGE;
  for (const [ax, ay, ex, ey] of segments) {
    const [ox, oy] = [ax - x, ay - y];
    const cross = dx * ey - dy * ex;
    if (Math.abs(cross) < 1e-10) continue;
    const t = (ox * ey - oy * ex) / cross;
    const u = (ox * dy - oy * dx) / cross;
    if (t >= 0 && u >= 0 && u <= 1) nearest = Math.min(nearest, t);
  }
  return nearest;
}

function plainContact(segments: Segments, x: number, y: number): { distance: number; x: number; y: number } {
  let best = { distance: Infinity, x: 0, y: 0 };
  for (const [ax, ay, ex, ey] of segments) {
    const t = Math.min(Math.max(((x - ax) * ex + (y - ay) * ey) / (ex * ex + ey * ey), 0), 1);
    const [px, py] = [ax + t * ex, ay + t * ey];
    const distance = Math.sqrt((x - px) ** 2 + (y - py) ** 2);
    if (distance < best.distance) best = { distance, x: px, y: py };
  }
  return best;
}

/** The search as the definition words it. */
function plainCentre({ geometry }: Track, x: number, y: number): { arcLength: number; distance: number } {
  const { centreLine, totalLength } = geometry;
  const distanceAt = (arcLength: number) => {
    const point = centreLine.pointAt(arcLength);
    return Math.sqrt((point.x - x) ** 2 + (point.y - y) ** 2);
  };
  const count = Math.max(100, Math.ceil(totalLength / 2));
  let best = 0;
  let nearest = Infinity;
  const consider = (arcLength: number, distance: number) => {
    if (distance < nearest) [best, nearest] = [arcLength, distance];
  };
  for (let i = 0; i < count; i++) consider((i * totalLength) / count, distanceAt((i * totalLength) / count));
  let [low, high] = [best - totalLength / count, best + totalLength / count];
  for (let round = 0; round < 16; round++) {
    const [m1, m2] = [low + (high - low) / 3, high - (high - low) / 3];
    const [d1, d2] = [distanceAt(m1), distanceAt(m2)];
    if (d1 < d2) {
      high = m2;
      consider(m1, d1);
    } else {
      low = m1;
      consider(m2, d2);
    }
  }
  return { arcLength: centreLine.wrap(best), distance: nearest };
}

function assertNear(actual: number, expected: number, what: string): void {
  assert.ok(Math.abs(actual - expected) <= TOLERANCE, `${what}: ${actual}, expected ${expected}`);
}

test("the tables are of the frozen physics", () => {
  assert.equal(PHYSICS.rayMaxDistance, RAY_RANGE);
  assert.equal(PHYSICS.width / 2 + PHYSICS.contactPadding, CONTACT_RADIUS);
});
