/** What a person is told who is lost: at a wall, or on the wrong way. */

import { TICKS_PER_SECOND } from "../../../bridge/src/engine/contract.js";
import type { Session, SessionListener } from "./session.js";

const AFTER = 2 * TICKS_PER_SECOND; // ticks of it before the first hint
const AGAIN = 8 * TICKS_PER_SECOND; // and between two
const SLOW = 12; // units/s, below which a car with an open throttle is stuck: along a wall it may still creep
const PUT_BACK = "R, or Back on road, puts the car back";

/** Watches a person's car. */
export class Hints implements SessionListener {
  private stuck = 0;
  private astray = 0;
  private distance: number;

  constructor(
    private readonly session: Session,
    private readonly car: number,
    private readonly say: (text: string) => void,
  ) {
    this.distance = this.progress;
    session.listeners.push(this);
  }

  acted(car: number, action: Float64Array): void {
    const { world, finishes } = this.session;
    if (car !== this.car || finishes[car] !== null) return;
    const isSlow = world.simulation.cars.speed[car] < SLOW;
    this.stuck = isSlow && action[1] > 0.5 ? this.stuck + 1 : 0;
    this.astray = !isSlow && this.progress < this.distance ? this.astray + 1 : 0;
    this.distance = this.progress;
    if (isDue(this.stuck)) this.say(`Stuck? ${PUT_BACK}.`);
    if (isDue(this.astray)) this.say(`This is the wrong way. ${PUT_BACK}.`);
  }

  placed(car: number): void {
    if (car !== this.car) return;
    this.stuck = 0;
    this.astray = 0;
    this.distance = this.progress;
  }

  private get progress(): number {
    return this.session.world.progress[this.car].distance;
  }
}

function isDue(ticks: number): boolean {
  return ticks >= AFTER && (ticks - AFTER) % AGAIN === 0;
}
