/** What happens to a car that meets a wall. Lengths in units, angles in radians. */

import type { Physics } from "../physics.js";
import type { Cars } from "./car.js";
import type { WallContacts } from "./contacts.js";
import { clamp, wrapAngle } from "./numbers.js";

const SWEEP_STEP = 0.75; // units between the collision tests of one move
const PUSH_OUT = 0.8; // units beyond the penetration after a hit
const PUSH_OUT_LEAVING = 0.5; // units, when the car was leaving the wall already
const REBOUND = 0.08; // share of speed that a wall gives back along its normal
const HARD_IMPACT = 0.5; // impact (0 glancing, 1 head-on) above which the car is turned
const WALL_TURN = 0.4; // share of the way to the wall's direction at the hardest impact
const YAW_LOSS = 0.5; // share of the yaw rate lost at the hardest impact
const MIN_IMPACT_SPEED = 1e-6; // units/s
const MIN_NORMAL_DISTANCE = 1e-10; // nearer than this to the wall point a contact's normal is (0, 1)

/** Sweep a car's move from its old position; stop it at the first wall contact and resolve that. */
export function collide(
  cars: Cars,
  car: number,
  contacts: WallContacts,
  physics: Physics,
  oldX: number,
  oldY: number,
): void {
  const radius = physics.width / 2;
  const dx = cars.x[car] - oldX;
  const dy = cars.y[car] - oldY;
  const moved = Math.sqrt(dx * dx + dy * dy);
  const tests = moved > SWEEP_STEP ? Math.ceil(moved / SWEEP_STEP) : 1;
  for (let test = 1; test <= tests; test++) {
    const x = test < tests ? oldX + dx * (test / tests) : cars.x[car];
    const y = test < tests ? oldY + dy * (test / tests) : cars.y[car];
    const distance = contacts.distance(x, y, radius);
    if (distance < radius) {
      cars.x[car] = x;
      cars.y[car] = y;
      resolve(cars, car, contacts, physics, distance);
      return;
    }
  }
}

/** Push a car out of the wall and let it bounce; `contacts` holds the wall point at `distance`. */
function resolve(cars: Cars, car: number, contacts: WallContacts, physics: Physics, distance: number): void {
  const penetration = physics.width / 2 - distance;
  const isClear = distance >= MIN_NORMAL_DISTANCE;
  const nx = isClear ? (cars.x[car] - contacts.contactX) / distance : 0;
  const ny = isClear ? (cars.y[car] - contacts.contactY) / distance : 1;
  const alongNormal = cars.vx[car] * nx + cars.vy[car] * ny;
  const pushOut = penetration + (alongNormal >= 0 ? PUSH_OUT_LEAVING : PUSH_OUT);
  cars.x[car] += nx * pushOut;
  cars.y[car] += ny * pushOut;
  if (alongNormal >= 0) return;

  const speed = cars.speed[car];
  const tangentialX = cars.vx[car] - nx * alongNormal;
  const tangentialY = cars.vy[car] - ny * alongNormal;
  const vx = (1 - physics.wallFriction) * tangentialX + nx * (REBOUND * speed);
  const vy = (1 - physics.wallFriction) * tangentialY + ny * (REBOUND * speed);
  cars.vx[car] = vx;
  cars.vy[car] = vy;
  cars.speed[car] = Math.sqrt(vx * vx + vy * vy);

  const tangential = Math.sqrt(tangentialX * tangentialX + tangentialY * tangentialY);
  const ratio = speed > MIN_IMPACT_SPEED ? tangential / speed : 0;
  const impact = Math.acos(clamp(ratio, 0, 1)) / (Math.PI / 2);
  if (impact <= HARD_IMPACT) return;
  const hardness = 2 * (impact - HARD_IMPACT);
  const isLeftward = tangentialX * -ny + tangentialY * nx >= 0;
  const wallHeading = isLeftward ? Math.atan2(nx, -ny) : Math.atan2(-nx, ny);
  cars.heading[car] += wrapAngle(wallHeading - cars.heading[car]) * WALL_TURN * hardness;
  cars.yawRate[car] *= 1 - YAW_LOSS * hardness;
}
