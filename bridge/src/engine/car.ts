/** The cars' states, and how a car moves in one tick as if there were no walls. */

import type { Physics } from "../physics.js";
import { ACTION, ACTION_INDEX, TICK_SECONDS } from "./contract.js";
import { clamp, wrapAngle } from "./numbers.js";
import type { StartState } from "./starts.js";

/** Surface codes. */
export const ROAD = 0;
export const RUNOFF = 1;
export const SHOULDER = 2;

const MIN_FORCE_SPEED = 0.01; // units/s; below it resistance does not act

const STEER = ACTION[ACTION_INDEX.steer];
const THROTTLE = ACTION[ACTION_INDEX.throttle];
const BRAKE = ACTION[ACTION_INDEX.brake];

/** The states of N cars, an array (N,) for each quantity. Lengths in units, angles in radians, times in seconds. */
export class Cars {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly vx: Float64Array;
  readonly vy: Float64Array;
  readonly heading: Float64Array;
  readonly yawRate: Float64Array;
  readonly speed: Float64Array;
  /** The smoothed inputs. */
  readonly steer: Float64Array;
  readonly throttle: Float64Array;
  readonly brake: Float64Array;
  /** Arc length of the nearest centre point, and the distance to it. */
  readonly arcLength: Float64Array;
  readonly centreDistance: Float64Array;
  /** ROAD, RUNOFF or SHOULDER. */
  readonly surface: Uint8Array;
  /** 1 on the first lap; 0 before the line is first crossed after a start elsewhere. */
  readonly lap: Int32Array;
  /** The last gate. */
  readonly checkpoint: Int32Array;
  /** Ticks of the episode. */
  readonly tick: Int32Array;
  /** Ticks in a row below the speed that counts as still. */
  readonly stillnessCounter: Int32Array;

  constructor(readonly count: number) {
    this.x = new Float64Array(count);
    this.y = new Float64Array(count);
    this.vx = new Float64Array(count);
    this.vy = new Float64Array(count);
    this.heading = new Float64Array(count);
    this.yawRate = new Float64Array(count);
    this.speed = new Float64Array(count);
    this.steer = new Float64Array(count);
    this.throttle = new Float64Array(count);
    this.brake = new Float64Array(count);
    this.arcLength = new Float64Array(count);
    this.centreDistance = new Float64Array(count);
    this.surface = new Uint8Array(count);
    this.lap = new Int32Array(count);
    this.checkpoint = new Int32Array(count);
    this.tick = new Int32Array(count);
    this.stillnessCounter = new Int32Array(count);
  }

  /** Put a car at a start. Where that is on the track is not known yet, and the surface starts as road. */
  place(car: number, start: StartState): void {
    this.x[car] = start.x;
    this.y[car] = start.y;
    this.vx[car] = start.speed * Math.cos(start.heading);
    this.vy[car] = start.speed * Math.sin(start.heading);
    this.heading[car] = start.heading;
    this.yawRate[car] = 0;
    this.speed[car] = start.speed;
    this.steer[car] = 0;
    this.throttle[car] = 0;
    this.brake[car] = 0;
    this.surface[car] = ROAD;
    this.lap[car] = start.lap;
    this.checkpoint[car] = start.checkpoint;
    this.tick[car] = 0;
    this.stillnessCounter[car] = 0;
  }
}

/** The car's own physics. */
export class CarDynamics {
  /** Grip and speed factor by surface code. */
  private readonly grips: Float64Array;
  private readonly speedFactors: Float64Array;
  /** Share of the way to the raw input that a smoothed one goes in a tick. */
  private readonly steerResponse: number;
  private readonly throttleResponse: number;
  private readonly brakeResponse: number;

  constructor(private readonly physics: Physics) {
    this.grips = Float64Array.of(physics.roadGrip, physics.runoffGrip, physics.shoulderGrip);
    this.speedFactors = Float64Array.of(physics.roadSpeed, physics.runoffSpeed, physics.shoulderSpeed);
    this.steerResponse = 1 - Math.exp(-physics.steerRate * TICK_SECONDS);
    this.throttleResponse = 1 - Math.exp(-physics.throttleRate * TICK_SECONDS);
    this.brakeResponse = 1 - Math.exp(-physics.brakeRate * TICK_SECONDS);
  }

  /** Move a car by one tick; the raw inputs are finite and of any size. */
  drive(cars: Cars, car: number, steer: number, throttle: number, brake: number): void {
    cars.steer[car] += (clamp(steer, STEER.low, STEER.high) - cars.steer[car]) * this.steerResponse;
    cars.throttle[car] += (clamp(throttle, THROTTLE.low, THROTTLE.high) - cars.throttle[car]) * this.throttleResponse;
    cars.brake[car] += (clamp(brake, BRAKE.low, BRAKE.high) - cars.brake[car]) * this.brakeResponse;
    const forward = this.forwardSpeed(cars, car); // before turning, which needs the old speed as well
    this.turn(cars, car);
    this.move(cars, car, forward);
  }

  /** The speed along the heading that engine and resistance make of the old speed. */
  private forwardSpeed(cars: Cars, car: number): number {
    const physics = this.physics;
    const speed = cars.speed[car];
    const factor = this.speedFactors[cars.surface[car]];
    const engine = cars.throttle[car] * physics.maxEngineForce * factor;
    const resistance =
      cars.brake[car] * physics.maxBrakeForce +
      (physics.dragCoefficient * speed * speed) / factor +
      physics.rollingResistance;
    let net = engine;
    if (speed > physics.reverseBrakeSpeed) net -= resistance;
    else if (speed > MIN_FORCE_SPEED) net -= Math.min(resistance, (speed / TICK_SECONDS) * physics.mass);
    return clamp(speed + (net / physics.mass) * TICK_SECONDS, 0, physics.maxSpeed);
  }

  /** Turn the heading as the wheels point. */
  private turn(cars: Cars, car: number): void {
    const physics = this.physics;
    const speed = cars.speed[car];
    const heading = cars.heading[car];
    const wheelAngle = -cars.steer[car] * physics.maxWheelAngle * (1 / (1 + speed * physics.steeringSpeedFactor));
    let turned = heading + wheelAngle * (speed / physics.lowSpeed) * TICK_SECONDS;
    if (speed > physics.lowSpeed) {
      // From the rear axle, moved along the heading, to the front axle, moved along the wheels.
      const half = physics.wheelbase / 2;
      const distance = speed * TICK_SECONDS;
      const cos = Math.cos(heading);
      const sin = Math.sin(heading);
      const frontX = half * cos + distance * Math.cos(heading + wheelAngle);
      const frontY = half * sin + distance * Math.sin(heading + wheelAngle);
      turned = Math.atan2(frontY - (distance - half) * sin, frontX - (distance - half) * cos);
    }
    cars.heading[car] = turned;
    cars.yawRate[car] = wrapAngle(turned - heading) / TICK_SECONDS;
  }

  /** Make the new velocity of the speed along the new heading and what traction leaves of the drift, and move. */
  private move(cars: Cars, car: number, forward: number): void {
    const { maxSpeed, lowSpeed, slowTraction, fastTraction } = this.physics;
    const cos = Math.cos(cars.heading[car]);
    const sin = Math.sin(cars.heading[car]);
    const traction = slowTraction + (fastTraction - slowTraction) * Math.min(cars.speed[car] / maxSpeed, 1);
    const lateral = (-cars.vx[car] * sin + cars.vy[car] * cos) * (1 - traction * this.grips[cars.surface[car]]);
    let vx = forward * cos - lateral * sin;
    let vy = forward * sin + lateral * cos;
    let speed = Math.sqrt(vx * vx + vy * vy);
    if (speed > maxSpeed) {
      vx *= maxSpeed / speed;
      vy *= maxSpeed / speed;
      speed = maxSpeed;
    }
    if (speed < lowSpeed && vx * cos + vy * sin < 0) {
      vx = 0;
      vy = 0;
      speed = 0;
    }
    cars.vx[car] = vx;
    cars.vy[car] = vy;
    cars.speed[car] = speed;
    cars.x[car] += vx * TICK_SECONDS;
    cars.y[car] += vy * TICK_SECONDS;
  }
}
