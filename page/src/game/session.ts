/** A drive of several cars on one track: watching, a race, or a time trial. */

import { ACTION_SIZE, TICKS_PER_SECOND } from "../../../bridge/src/engine/contract.js";
import type { StartState } from "../../../bridge/src/engine/starts.js";
import type { LoadedTrack } from "../loading.js";
import type { Controller } from "./controller.js";
import type { Lap } from "./laps.js";
import { gapTicks } from "./progress.js";
import { World } from "./world.js";

/** Ticks between the first light and the start. */
export const COUNTDOWN = 3 * TICKS_PER_SECOND;

/** Who takes part. */
export interface Entrant {
  readonly label: string;
  readonly controller: Controller;
  readonly isPerson: boolean;
}

/** How a session is driven. */
export interface Rules {
  readonly hasCountdown: boolean;
  /** After which a car has finished; null never ends. */
  readonly laps: number | null;
}

/** A place in a race. */
export interface Standing {
  readonly car: number;
  /** Ticks that it took for all laps; null while it drives. */
  readonly finish: number | null;
  /** Ticks behind the first; null where it cannot be known. */
  readonly gap: number | null;
}

/** Is told of what happens on a tick, in this order. */
export interface SessionListener {
  started?(): void;
  acted?(car: number, action: Float64Array): void;
  lapped?(car: number, lap: Lap): void;
  finished?(car: number): void;
  placed?(car: number, start: StartState): void;
}

/** Cars that drive side by side, each alone. */
export class Session {
  readonly world: World;
  /** Ticks until the start. */
  countdown: number;
  /** Ticks that each car took for all laps; null while it drives. */
  readonly finishes: (number | null)[];
  readonly listeners: SessionListener[] = [];
  private readonly actions: Float64Array;

  constructor(
    readonly loaded: LoadedTrack,
    readonly entrants: readonly Entrant[],
    readonly rules: Rules,
  ) {
    this.world = new World(loaded.track, entrants.length);
    this.countdown = rules.hasCountdown ? COUNTDOWN : 0;
    this.finishes = entrants.map(() => null);
    this.actions = new Float64Array(entrants.length * ACTION_SIZE);
    for (const { controller } of entrants) controller.begin();
  }

  /** The car that a person drives; null without one. */
  get person(): number | null {
    const car = this.entrants.findIndex(({ isPerson }) => isPerson);
    return car < 0 ? null : car;
  }

  /** Advance by one tick. */
  async tick(): Promise<void> {
    if (this.countdown > 0) {
      this.countdown -= 1;
      if (this.countdown === 0) this.tell((listener) => listener.started?.());
      return;
    }
    const asked = this.entrants.map((_, car) => this.act(car));
    await Promise.all(asked);
    const laps = this.world.step(this.actions);
    for (let car = 0; car < this.entrants.length; car++) {
      this.tell((listener) => listener.acted?.(car, this.actionOf(car)));
      const lap = laps[car];
      if (lap !== null) this.lapped(car, lap);
    }
  }

  /** Put a car back on the road; the lap that it is on no longer counts. */
  resetToRoad(car: number): void {
    if (this.countdown > 0 || this.finishes[car] !== null) return;
    const start = this.world.resetToRoad(car);
    this.entrants[car].controller.begin();
    this.tell((listener) => listener.placed?.(car, start));
  }

  /** What a car did on the last tick: steer, throttle and brake. */
  actionOf(car: number): Float64Array {
    return this.actions.subarray(car * ACTION_SIZE, (car + 1) * ACTION_SIZE);
  }

  /** The cars from first to last: those that have finished by their times, then the others by how far they are. */
  standings(): Standing[] {
    const { progress, tick } = this.world;
    const order = this.entrants.map((_, car) => car);
    order.sort((a, b) => {
      const [first, second] = [this.finishes[a] ?? Infinity, this.finishes[b] ?? Infinity];
      return first !== second ? first - second : progress[b].distance - progress[a].distance;
    });
    const [leader] = order;
    return order.map((car) => {
      const finish = this.finishes[car];
      const best = this.finishes[leader];
      if (car === leader) return { car, finish, gap: 0 };
      if (finish !== null && best !== null) return { car, finish, gap: finish - best };
      return { car, finish, gap: gapTicks(progress[car], progress[leader], tick) };
    });
  }

  /** A car's gap to the best other one: positive ticks behind it; null where it cannot be known. */
  gap(car: number): { readonly ticks: number; readonly to: number } | null {
    const standings = this.standings();
    if (standings.length < 2 || this.world.tick === 0) return null;
    const own = standings.findIndex((standing) => standing.car === car);
    const other = standings[own === 0 ? 1 : 0];
    const ticks = own === 0 ? other.gap : standings[own].gap;
    if (ticks === null) return null;
    return { ticks: own === 0 ? 0 - ticks : ticks, to: other.car };
  }

  private act(car: number): void | Promise<void> {
    const action = this.actionOf(car);
    const { controller, isPerson } = this.entrants[car];
    const { simulation } = this.world;
    if (isPerson && this.finishes[car] !== null) {
      action.set([0, 0, 1]); // the race is over: the car comes to rest
      return;
    }
    return controller.act({ observation: this.world.observation(car), speed: simulation.cars.speed[car] }, action);
  }

  private lapped(car: number, lap: Lap): void {
    this.tell((listener) => listener.lapped?.(car, lap));
    if (this.world.timers[car].laps.length !== this.rules.laps) return;
    this.finishes[car] = this.world.tick;
    this.tell((listener) => listener.finished?.(car));
  }

  private tell(say: (listener: SessionListener) => void): void {
    for (const listener of this.listeners) say(listener);
  }
}
