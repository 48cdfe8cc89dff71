/** The panel of figures beside the view: times, laps and order, as the car that is looked at has them. */

import { byId } from "../dom.js";
import type { Session } from "../game/session.js";
import type { TimeTrial } from "../game/time_trial.js";
import { nextMedal } from "../words.js";
import { LapList } from "./lap_list.js";
import { Order } from "./order.js";
import { Times, type TimeToBeat } from "./times.js";

/** The panel of one drive. */
export class Panel {
  private readonly times = new Times();
  private readonly lapList = new LapList();
  private readonly order: Order;

  /** Show nothing yet; `onLook` is told of a car that is to be looked at. */
  constructor(
    private readonly session: Session,
    private readonly trial: TimeTrial | null,
    onLook: (car: number) => void,
  ) {
    this.order = new Order(session, onLook);
    byId("order", HTMLElement).hidden = session.entrants.length < 2;
  }

  /** Show the figures of now. */
  show(focus: number): void {
    const { world, finishes, rules } = this.session;
    const timer = world.timers[focus];
    const toBeat = { target: this.target(), medal: this.medal(focus) };
    this.times.show({ timer, lapsInRace: rules.laps, finish: finishes[focus], gap: this.gap(focus), ...toBeat });
    this.lapList.show(timer.laps);
    this.order.show(focus);
  }

  /** The gap to the best other car, or to the ghost. */
  private gap(focus: number): { ticks: number; to: string } | null {
    const { session, trial } = this;
    if (trial !== null) {
      const ticks = trial.gap();
      return ticks === null || trial.ghost === null ? null : { ticks, to: trial.ghost.label };
    }
    const gap = session.gap(focus);
    return gap === null ? null : { ticks: gap.ticks, to: session.entrants[gap.to].label };
  }

  /** The lap to beat. */
  private target(): TimeToBeat | null {
    const ghost = this.trial?.ghost ?? null;
    return ghost === null ? null : { name: ghost.isOwn ? "Record" : "To beat", ticks: ghost.path.ticks };
  }

  /** The medal to drive for. */
  private medal(focus: number): TimeToBeat | null {
    const { trial, session } = this;
    const { parTicks } = session.loaded.entry;
    if (parTicks === null) return null;
    const best = trial === null ? session.world.timers[focus].bestClean : (trial.best?.path.ticks ?? null);
    const medal = nextMedal(best, parTicks);
    return { name: `${medal[0].toUpperCase()}${medal.slice(1)}`, ticks: parTicks[medal] };
  }
}
