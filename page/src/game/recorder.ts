/** Recordings of a car: its start, and every action since. */

import type { Cars } from "../../../bridge/src/engine/car.js";
import { ACTION_SIZE, DEFAULT_CONFIG } from "../../../bridge/src/engine/contract.js";
import { Simulation } from "../../../bridge/src/engine/simulation.js";
import type { StartState } from "../../../bridge/src/engine/starts.js";
import type { Track } from "../../../bridge/src/engine/track.js";
import { type Pose, poseBetween, poseOf } from "./poses.js";
import { Progress } from "./progress.js";

/** A drive that the simulator repeats, bit by bit. */
export interface Drive {
  readonly start: StartState;
  /** What the last tick left, by which a reader checks that it drives the same. */
  readonly end: StartState;
  /** (T, 3) steer, throttle and brake of every tick. */
  readonly actions: Float64Array;
}

/** A completed lap of a drive: from the state after one tick to that after another. */
export interface LapSpan {
  readonly first: number;
  readonly last: number;
  readonly isClean: boolean;
}

/** Takes down what a car does from its last start on. */
export class Recorder {
  private readonly taken: number[] = [];

  constructor(private start: StartState) {}

  /** The car has been put somewhere else. */
  begin(start: StartState): void {
    this.start = start;
    this.taken.length = 0;
  }

  /** A tick with this action has passed. */
  see(action: Float64Array): void {
    this.taken.push(...action);
  }

  /** The drive up to now, which has left its car like this. */
  drive(end: StartState): Drive {
    return { start: this.start, end, actions: Float64Array.from(this.taken) };
  }
}

/** A drive's lap, tick by tick, to be drawn and compared with. */
export class LapPath {
  constructor(
    readonly ticks: number,
    private readonly poses: readonly Pose[],
    /** From the line on, by tick of the lap. */
    readonly progress: Progress,
  ) {}

  /** Where the car is a share of a tick after so many ticks of the lap; null once the lap is over. */
  poseAt(tick: number, share: number): Pose | null {
    if (tick >= this.ticks) return null;
    return poseBetween(this.poses[Math.max(tick - 1, 0)], this.poses[tick], share);
  }
}

/** A car's state, as far as recordings hold it. */
export function stateOf(cars: Cars, car: number): StartState {
  return {
    x: cars.x[car],
    y: cars.y[car],
    heading: cars.heading[car],
    speed: cars.speed[car],
    checkpoint: cars.checkpoint[car],
    lap: cars.lap[car],
  };
}

/** What becomes of a drive: its laps, and the path of each. */
export class Replay {
  /** What the last tick left. */
  readonly end: StartState;
  readonly laps: LapSpan[] = [];
  private readonly poses: Pose[];
  private readonly arcLengths: number[];

  constructor(
    private readonly track: Track,
    drive: Drive,
  ) {
    const simulation = new Simulation(track, DEFAULT_CONFIG, 1);
    const { cars, infos } = simulation;
    cars.place(0, drive.start);
    this.poses = [poseOf(cars, 0)];
    this.arcLengths = [cars.arcLength[0]]; // of the standing start; laps from elsewhere begin at the line
    let first = 0;
    let isClean = true;
    const count = drive.actions.length / ACTION_SIZE;
    for (let tick = 1; tick <= count; tick++) {
      const lap = cars.lap[0];
      simulation.step(drive.actions.subarray((tick - 1) * ACTION_SIZE, tick * ACTION_SIZE));
      if (infos.wallContact[0] === 1) isClean = false;
      this.poses.push(poseOf(cars, 0));
      this.arcLengths.push(cars.arcLength[0]);
      if (cars.lap[0] === lap) continue;
      if (lap > 0) this.laps.push({ first, last: tick, isClean });
      first = tick;
      isClean = true;
    }
    this.end = stateOf(cars, 0);
  }

  /** The fastest clean lap; without one, the fastest; null without any. */
  get best(): LapSpan | null {
    const worse = (a: LapSpan, b: LapSpan) =>
      a.isClean === b.isClean ? a.last - a.first - (b.last - b.first) : a.isClean ? -1 : 1;
    return [...this.laps].sort(worse)[0] ?? null;
  }

  /** The path of a lap. */
  path({ first, last }: LapSpan): LapPath {
    const progress = new Progress(this.track.geometry.totalLength, this.arcLengths[first]);
    for (let tick = first + 1; tick <= last; tick++) progress.see(tick - first, this.arcLengths[tick]);
    return new LapPath(last - first, this.poses.slice(first, last + 1), progress);
  }
}
