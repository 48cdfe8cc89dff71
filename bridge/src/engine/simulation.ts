/** The game for N cars, each alone on one track: tick, timing, reward, end of the episode, observation. */

import { CarDynamics, Cars, ROAD, RUNOFF, SHOULDER } from "./car.js";
import { collide } from "./collision.js";
import {
  ACTION_INDEX,
  ACTION_SIZE,
  type AiConfig,
  COMPONENTS,
  OBSERVATION,
  OBSERVATION_INDEX,
  OBSERVATION_SIZE,
  type ResetInfo,
  STEP_INFO,
} from "./contract.js";
import { crossesGate } from "./gates.js";
import { clamp } from "./numbers.js";
import { type Start, startState } from "./starts.js";
import type { Track } from "./track.js";

const SHOULDER_WIDTH = 24; // units beyond the road's edge

// As constants, because looking names up in an object for every car and tick costs some per cent.
const { steer: STEER, throttle: THROTTLE, brake: BRAKE } = ACTION_INDEX;
const { ray_0: RAYS, speed: SPEED, yaw_rate: YAW_RATE, steer: WHEEL } = OBSERVATION_INDEX;
const { arc_length: ARC_LENGTH, centre_distance: CENTRE_DISTANCE } = OBSERVATION_INDEX;
const { low: MIN_YAW_RATE, high: MAX_YAW_RATE } = OBSERVATION[YAW_RATE];
const { high: MAX_CENTRE_DISTANCE } = OBSERVATION[CENTRE_DISTANCE];

/** The arrays that hold an info's values, by type; a boolean is 1 or 0. */
const INFO_ARRAYS = { float: Float64Array, integer: Int32Array, boolean: Uint8Array } as const;

/** The info of the last step, an array (N,) for each key, by the names of the wire protocol. */
export type StepInfos = {
  readonly [Field in (typeof STEP_INFO)[number] as Field["name"]]: InstanceType<(typeof INFO_ARRAYS)[Field["type"]]>;
};

/** N cars on one track. The arrays are the same objects after every step, written in place. */
export class Simulation {
  /** The cars' states. */
  readonly cars: Cars;
  /** (N, 14): the numbers of `OBSERVATION`. */
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
  /** The arrays of `infos` whose sum is the reward. */
  private readonly components: readonly Float64Array[];

  /** Put every car at the standing start. */
  constructor(
    readonly track: Track,
    readonly config: AiConfig,
    readonly numCars: number,
  ) {
    this.dynamics = new CarDynamics(track.physics);
    this.cars = new Cars(numCars);
    this.observations = new Float64Array(numCars * OBSERVATION_SIZE).fill(Number.NaN);
    this.rewards = new Float64Array(numCars);
    this.terminated = new Uint8Array(numCars);
    this.truncated = new Uint8Array(numCars);
    this.infos = makeInfos(numCars);
    this.components = COMPONENTS.map((name) => this.infos[name]);
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
   * @param actions (N, 3) the numbers of `ACTION`, finite; clamped to its ranges.
   */
  step(actions: Float64Array): void {
    const { cars, track, dynamics } = this;
    for (let car = 0; car < this.numCars; car++) {
      const oldX = cars.x[car];
      const oldY = cars.y[car];
      const oldArcLength = cars.arcLength[car];
      const action = car * ACTION_SIZE;
      dynamics.drive(cars, car, actions[action + STEER], actions[action + THROTTLE], actions[action + BRAKE]);
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

    infos.progress[car] = (weights.progress * delta) / length;
    infos.speed[car] = (weights.speedBonus * cars.speed[car]) / physics.maxSpeed;
    infos.wall[car] = isContact ? weights.wallPenalty : 0;
    infos.offTrack[car] = cars.surface[car] !== ROAD ? weights.offTrackPenalty : 0;
    infos.backward[car] = delta < 0 ? weights.backwardPenalty : 0;
    infos.stillness[car] = cars.stillnessCounter[car] > 0 ? weights.stillnessPenalty : 0;
    infos.wallContact[car] = isContact ? 1 : 0;
    let sum = 0;
    for (const values of this.components) sum += values[car];
    this.rewards[car] = sum;
  }

  /** Write a car's observation. */
  private observe(car: number): void {
    const { cars, observations, track } = this;
    const { physics } = track;
    const first = car * OBSERVATION_SIZE;
    track.rays.cast(cars.x[car], cars.y[car], cars.heading[car], observations, first + RAYS);
    observations[first + SPEED] = cars.speed[car] / physics.maxSpeed;
    observations[first + YAW_RATE] = clamp(cars.yawRate[car] / physics.maxYawRate, MIN_YAW_RATE, MAX_YAW_RATE);
    observations[first + WHEEL] = cars.steer[car];
    observations[first + ARC_LENGTH] = cars.arcLength[car] / track.geometry.totalLength;
    const centreDistance = cars.centreDistance[car] / physics.maxCentreDistance;
    observations[first + CENTRE_DISTANCE] = Math.min(MAX_CENTRE_DISTANCE, centreDistance);
  }
}

/** Arrays for an info, of NaN where the type has it, so that a value that no tick writes is refused as a reply. */
function makeInfos(numCars: number): StepInfos {
  const arrays = STEP_INFO.map(({ name, type }) => [name, new INFO_ARRAYS[type](numCars).fill(Number.NaN)] as const);
  return Object.fromEntries(arrays) as StepInfos;
}
