/** Measures how fast the engine alone steps, observations included: `npm run benchmark`. */

import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import {
  ACTION,
  ACTION_INDEX,
  ACTION_SIZE,
  DEFAULT_CONFIG,
  OBSERVATION_INDEX,
  OBSERVATION_SIZE,
} from "./engine/contract.js";
import { Simulation } from "./engine/simulation.js";
import type { Track } from "./engine/track.js";
import { loadPhysics } from "./physics_file.js";
import { TrackLibrary } from "./tracks.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const CAR_COUNTS = [1, 64];
const WARM_UP_SECONDS = 0.5;
const MEASURED_SECONDS = 2;
const STEPS_PER_LOOK = 100; // at the clock
const HOLD_TICKS = 15; // that a random action is held
const START_SPEED = 40; // units/s of cars that start spread along the track

/** Writes the actions (N, 3) for a simulation's next tick. */
type Driver = (simulation: Simulation, actions: Float64Array, tick: number) => void;

/** Random actions, each held for some ticks. */
function driveAtRandom(_simulation: Simulation, actions: Float64Array, tick: number): void {
  if (tick % HOLD_TICKS !== 0) return;
  for (let i = 0; i < actions.length; i++) {
    const { low, high } = ACTION[i % ACTION_SIZE];
    actions[i] = low + (high - low) * Math.random();
  }
}

/** Steer to the side with more room, as fast as the view ahead allows: the same rules as `training/driver.py`. */
function driveByRule({ observations, numCars, track }: Simulation, actions: Float64Array): void {
  const { rayMaxDistance, maxSpeed } = track.physics;
  const at = OBSERVATION_INDEX;
  for (let car = 0; car < numCars; car++) {
    const first = car * OBSERVATION_SIZE;
    const left = observations[first + at.ray_5] + 0.5 * observations[first + at.ray_6];
    const right = observations[first + at.ray_3] + 0.5 * observations[first + at.ray_2];
    const speed = observations[first + at.speed] * maxSpeed;
    const target = 20 + 0.75 * observations[first + at.ray_4] * rayMaxDistance;
    const action = car * ACTION_SIZE;
    actions[action + ACTION_INDEX.steer] = Math.min(Math.max(4 * (right - left), -1), 1);
    actions[action + ACTION_INDEX.throttle] = speed < target ? 1 : 0;
    actions[action + ACTION_INDEX.brake] = speed > target + 10 ? 1 : 0;
  }
}

const DRIVERS: Readonly<Record<string, Driver>> = { random: driveAtRandom, driver: driveByRule };

/** Step for some seconds and return car ticks per second. */
function measure(simulation: Simulation, drive: Driver, seconds: number): number {
  const actions = new Float64Array(simulation.numCars * ACTION_SIZE);
  const begin = performance.now();
  let tick = 0;
  let elapsed = 0;
  while (elapsed < seconds) {
    for (let i = 0; i < STEPS_PER_LOOK; i++) {
      drive(simulation, actions, tick++);
      simulation.step(actions);
      beginFinished(simulation);
    }
    elapsed = (performance.now() - begin) / 1000;
  }
  return (tick * simulation.numCars) / elapsed;
}

function beginFinished(simulation: Simulation): void {
  for (let car = 0; car < simulation.numCars; car++) {
    if (simulation.terminated[car] || simulation.truncated[car]) simulation.place(car, null);
  }
}

/** A simulation whose cars start spread along the track, so that they do not all do the same. */
function spreadOut(track: Track, numCars: number): Simulation {
  const simulation = new Simulation(track, DEFAULT_CONFIG, numCars);
  for (let car = 0; car < numCars; car++) {
    simulation.place(car, [(car / numCars) * track.geometry.totalLength, 0, 0, START_SPEED]);
  }
  return simulation;
}

function main(): void {
  const library = new TrackLibrary(`${ROOT}tracks`, loadPhysics(`${ROOT}physics.json`));
  console.log("track      tables ms   cars  actions   car ticks/s");
  for (const id of library.ids()) {
    const begin = performance.now();
    const track = library.track(id);
    const buildTime = (performance.now() - begin).toFixed(0);
    for (const numCars of CAR_COUNTS) {
      for (const [name, drive] of Object.entries(DRIVERS)) {
        const simulation = spreadOut(track, numCars);
        measure(simulation, drive, WARM_UP_SECONDS);
        const rate = Math.round(measure(simulation, drive, MEASURED_SECONDS)).toLocaleString("en");
        console.log(
          `${id.padEnd(10)} ${buildTime.padStart(9)} ${String(numCars).padStart(6)}  ${name.padEnd(8)} ${rate.padStart(12)}`,
        );
      }
    }
  }
}

main();
