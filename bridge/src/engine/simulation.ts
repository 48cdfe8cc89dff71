/** The game for N cars, each alone on one track: tick, timing, reward, end of the episode, observation. */

import type { AiConfig } from "../config.js";
import { RAY_COUNT } from "../physics.js";
import { CarDynamics, Cars, ROAD, RUNOFF, SHOULDER } from "./car.js";
import { collide } from "./collision.js";
import { crossesGate } from "./gates.js";
import { clamp } from "./numbers.js";
import { type Start, startState } from "./starts.js";
import type { Track } from "./track.js";

/** Numbers in an observation. */
export const OBSERVATION_SIZE = RAY_COUNT + 5;

/** Numbers in an action: steer, throttle, brake. */
export const ACTION_SIZE = 3;

const SHOULDER_WIDTH = 24; // units beyond the road's edge

/** The info of the last step, an array (N,) for each key, by the names of the wire protocol. */
export interface StepInfos {
  /** the six components of the reward */
  readonly progress: Float64Array;
  readonly speed: Float64Array;
  readonly wall: Float64Array;
  readonly offTrack: Float64Array;
  readonly backward: Float64Array;
  readonly stillness: Float64Array;
  readonly tick: Int32Array;
  /** units/s */
  readonly rawSpeed: Float64Array;
  readonly lap: Int32Array;
  /** the last gate */
  readonly checkpoint: Int32Array;
  readonly stepCount: Int32Array;
  /** 1 with wall contact, else 0 */
  readonly wallContact: Uint8Array;
  /** ticks in a row */
  readonly stillnessCounter: Int32Array;
}

/** The info of a reset, by the names of the wire protocol; speed in units/s. */
export interface ResetInfo {
  readonly tick: number;
  readonly speed: number;
  readonly lap: number;
  readonly checkpoint: number;
  readonly stepCount: number;
}

/** The keys of a step's info in the order of the wire protocol. */
export const STEP_INFO_KEYS = [
  "progress",
  "speed",
  "wall",
  "offTrack",
  "backward",
  "stillness",
  "tick",
  "rawSpeed",
  "lap",
  "checkpoint",
  "stepCount",
  "wallContact",
  "stillnessCounter",
] as const satisfies (keyof StepInfos)[];

/** The keys of a reset's info in the order of the wire protocol. */
export const RESET_INFO_KEYS = [
  "tick",
  "speed",
  "lap",
  "checkpoint",
  "stepCount",
] as const satisfies (keyof ResetInfo)[];

/** N cars on one track. The arrays are the same objects after every step, written in place. */
export class Simulation {
  /** The cars' states. */
  readonly cars: Cars;
  /** (N, 14): rays, speed, yaw rate, steer, arc length and distance to the centre line, see `PROTOCOL.md`. */
  readonly observations: Float64Array;
  /** (N,) of the last step. */
  readonly rewards: Float64Array;
  /** (N,) of the last step: 1 where the car stood still for too long. */
  readonly terminated: Uint8Array;
  /** (N,) of the last step: 1 where the episode has reached its most steps. */
  readonly truncated: Uint8Array;
  /** Of the last step. */
  readonly infos: StepInfos;
  private readonly dynamics: CarDynamics;

  /** Put every car at the standing start. */
  constructor(
    readonly track: Track,
    readonly config: AiConfig,
    readonly numCars: number,
  ) {
    this.dynamics = new CarDynamics(track.physics);
    this.cars = new Cars(numCars);
    this.observations = new Float64Array(numCars * OBSERVATION_SIZE);
    this.rewards = new Float64Array(numCars);
    this.terminated = new Uint8Array(numCars);
    this.truncated = new Uint8Array(numCars);
    this.infos = makeInfos(numCars);
    for (let car = 0; car < numCars; car++) this.place(car, null);
  }

  /** Begin an episode for a car and observe; the others stay as they are. */
  place(car: number, start: Start): void {
    this.cars.place(car, startState(this.track.geometry, start));
    this.findCentre(car);
    this.observe(car);
  }

  /** What the protocol tells about a car that has just been placed. */
  resetInfo(car: number): ResetInfo {
    const { tick, speed, lap, checkpoint } = this.cars;
    return {
      tick: tick[car],
      speed: speed[car],
      lap: lap[car],
      checkpoint: checkpoint[car],
      stepCount: tick[car],
    };
  }

  /**
   * Advance every car by one tick and write the arrays. A car whose episode has ended goes on.
   *
   * @param actions (N, 3) steer, throttle, brake; finite; clamped to [-1, 1], [0, 1], [0, 1].
   */
  step(actions: Float64Array): void {
    const { cars, track, dynamics } = this;
    for (let car = 0; car < this.numCars; car++) {
      const oldX = cars.x[car];
      const oldY = cars.y[car];
      const oldArcLength = cars.arcLength[car];
      const action = car * ACTION_SIZE;
      dynamics.drive(cars, car, actions[action], actions[action + 1], actions[action + 2]);
      collide(cars, car, track.contacts, track.physics, oldX, oldY);
      this.findCentre(car);
      this.findSurface(car);
      this.time(car, oldX, oldY);
      this.count(car);
      this.reward(car, oldArcLength);
      this.observe(car);
    }
  }

  private findCentre(car: number): void {
    const { cars, track } = this;
    track.centre.find(cars.x[car], cars.y[car]);
    cars.arcLength[car] = track.centre.arcLength;
    cars.centreDistance[car] = track.centre.distance;
  }

  /** Write the surface under a car whose centre point has just been found. */
  private findSurface(car: number): void {
    const { distance, halfWidth } = this.track.centre;
    const isShoulder = distance <= halfWidth + SHOULDER_WIDTH;
    this.cars.surface[car] = distance <= halfWidth ? ROAD : isShoulder ? SHOULDER : RUNOFF;
  }

  /** Look whether the move has crossed the expected gate. */
  private time(car: number, oldX: number, oldY: number): void {
    const { cars } = this;
    const { gates } = this.track.geometry;
    const expected = (cars.checkpoint[car] + 1) % gates.count;
    if (!crossesGate(gates, expected, oldX, oldY, cars.x[car] - oldX, cars.y[car] - oldY)) return;
    cars.checkpoint[car] = expected;
    if (expected === 0) cars.lap[car] += 1;
  }

  /** Count the tick and look whether the episode ends. */
  private count(car: number): void {
    const { cars, infos } = this;
    const { weights, episode } = this.config;
    const isStill = cars.speed[car] < weights.stillnessSpeedThreshold;
    cars.stillnessCounter[car] = isStill ? cars.stillnessCounter[car] + 1 : 0;
    cars.tick[car] += 1;
    this.terminated[car] = cars.stillnessCounter[car] >= episode.stillnessTimeoutTicks ? 1 : 0;
    this.truncated[car] = cars.tick[car] >= episode.maxSteps ? 1 : 0;
    infos.tick[car] = cars.tick[car];
    infos.stepCount[car] = cars.tick[car];
    infos.stillnessCounter[car] = cars.stillnessCounter[car];
    infos.lap[car] = cars.lap[car];
    infos.checkpoint[car] = cars.checkpoint[car];
    infos.rawSpeed[car] = cars.speed[car];
  }

  /** Write the reward and its components. */
  private reward(car: number, oldArcLength: number): void {
    const { cars, infos } = this;
    const { physics, geometry, contacts } = this.track;
    const { weights } = this.config;
    const length = geometry.totalLength;
    let delta = cars.arcLength[car] - oldArcLength;
    if (delta > length / 2) delta -= length;
    else if (delta < -length / 2) delta += length;
    const contactRadius = physics.width / 2 + physics.contactPadding;
    const isContact = contacts.distance(cars.x[car], cars.y[car], contactRadius) < contactRadius;

    const progress = (weights.progress * delta) / length;
    const speed = (weights.speedBonus * cars.speed[car]) / physics.maxSpeed;
    const wall = isContact ? weights.wallPenalty : 0;
    const offTrack = cars.surface[car] !== ROAD ? weights.offTrackPenalty : 0;
    const backward = delta < 0 ? weights.backwardPenalty : 0;
    const stillness = cars.stillnessCounter[car] > 0 ? weights.stillnessPenalty : 0;
    infos.progress[car] = progress;
    infos.speed[car] = speed;
    infos.wall[car] = wall;
    infos.offTrack[car] = offTrack;
    infos.backward[car] = backward;
    infos.stillness[car] = stillness;
    infos.wallContact[car] = isContact ? 1 : 0;
    this.rewards[car] = progress + speed + wall + offTrack + backward + stillness;
  }

  /** Write a car's observation. */
  private observe(car: number): void {
    const { cars, observations, track } = this;
    const { physics } = track;
    const first = car * OBSERVATION_SIZE;
    track.rays.cast(cars.x[car], cars.y[car], cars.heading[car], observations, first);
    observations[first + 9] = cars.speed[car] / physics.maxSpeed;
    observations[first + 10] = clamp(cars.yawRate[car] / physics.maxYawRate, -1, 1);
    observations[first + 11] = cars.steer[car];
    observations[first + 12] = cars.arcLength[car] / track.geometry.totalLength;
    observations[first + 13] = Math.min(1, cars.centreDistance[car] / physics.maxCentreDistance);
  }
}

function makeInfos(numCars: number): StepInfos {
  return {
    progress: new Float64Array(numCars),
    speed: new Float64Array(numCars),
    wall: new Float64Array(numCars),
    offTrack: new Float64Array(numCars),
    backward: new Float64Array(numCars),
    stillness: new Float64Array(numCars),
    tick: new Int32Array(numCars),
    rawSpeed: new Float64Array(numCars),
    lap: new Int32Array(numCars),
    checkpoint: new Int32Array(numCars),
    stepCount: new Int32Array(numCars),
    wallContact: new Uint8Array(numCars),
    stillnessCounter: new Int32Array(numCars),
  };
}
