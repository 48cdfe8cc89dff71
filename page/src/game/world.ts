/** Cars on one track, each alone: the simulation with lap times, progress and poses. */

import { DEFAULT_CONFIG, OBSERVATION_SIZE, type Placement } from "../../../bridge/src/engine/contract.js";
import { Simulation } from "../../../bridge/src/engine/simulation.js";
import { type StartState, startState } from "../../../bridge/src/engine/starts.js";
import type { Track } from "../../../bridge/src/engine/track.js";
import { type Lap, LapTimer } from "./laps.js";
import { Poses } from "./poses.js";
import { Progress } from "./progress.js";

/** The cars of a session. Rewards and the end of an episode, which training needs, play no part. */
export class World {
  readonly simulation: Simulation;
  readonly timers: readonly LapTimer[];
  readonly progress: readonly Progress[];
  readonly poses: Poses;
  /** Ticks since the start. */
  tick = 0;

  /** Put some cars at the standing start. */
  constructor(
    readonly track: Track,
    readonly numCars: number,
  ) {
    this.simulation = new Simulation(track, DEFAULT_CONFIG, numCars);
    const { arcLength } = this.simulation.cars;
    this.timers = Array.from({ length: numCars }, () => new LapTimer());
    this.progress = Array.from(arcLength, (distance) => new Progress(track.geometry.totalLength, distance));
    this.poses = new Poses(this.simulation.cars);
  }

  /** What a car sees: the numbers of the game's contract, written anew on every tick. */
  observation(car: number): Float64Array {
    return this.simulation.observations.subarray(car * OBSERVATION_SIZE, (car + 1) * OBSERVATION_SIZE);
  }

  /**
   * Advance every car by one tick.
   *
   * @param actions (N, 3) steer, throttle and brake.
   * @returns For each car the lap that it has completed, if any.
   */
  step(actions: Float64Array): (Lap | null)[] {
    const { simulation } = this;
    simulation.step(actions);
    this.tick += 1;
    return this.timers.map((timer, car) => {
      this.poses.move(car);
      this.progress[car].see(this.tick, simulation.cars.arcLength[car]);
      return timer.see(simulation.cars.lap[car], simulation.infos.wallContact[car] === 1);
    });
  }

  /** Put a car back on the road where it is, at rest and along it; the lap that it is on no longer counts. */
  resetToRoad(car: number): StartState {
    const { simulation } = this;
    const placement: Placement = [simulation.cars.arcLength[car], 0, 0, 0];
    simulation.place(car, placement);
    this.timers[car].begin(simulation.cars.lap[car]);
    this.progress[car].loseLap(simulation.cars.arcLength[car], this.timers[car].laps.length);
    this.poses.jump(car);
    return startState(this.track.geometry, placement);
  }
}
