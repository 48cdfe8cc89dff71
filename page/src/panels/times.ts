/** The times in the panel: clock, lap, gap, last and best lap. */

import { byId, write } from "../dom.js";
import type { LapTimer } from "../game/laps.js";
import { gapText, timeText } from "../words.js";

/** What the panel says of times. */
export interface TimesState {
  readonly timer: LapTimer;
  /** Laps of a race; null where there is no end. */
  readonly lapsInRace: number | null;
  /** Ticks of the race, once all laps are driven. */
  readonly finish: number | null;
  /** Ticks behind someone, negative where ahead. */
  readonly gap: { readonly ticks: number; readonly to: string } | null;
  /** The lap to beat. */
  readonly target: TimeToBeat | null;
  /** The medal to drive for. */
  readonly medal: TimeToBeat | null;
}

/** A time with its name. */
export interface TimeToBeat {
  readonly name: string;
  readonly ticks: number;
}

/** The panel's elements. */
export class Times {
  private readonly lap = byId("lap", HTMLElement);
  private readonly clock = byId("clock", HTMLElement);
  private readonly gap = byId("gap", HTMLElement);
  private readonly last = byId("last", HTMLElement);
  private readonly best = byId("best", HTMLElement);

  show({ timer, lapsInRace, finish, gap, target, medal }: TimesState): void {
    const { laps, best } = timer;
    const number =
      lapsInRace === null ? `${laps.length + 1}` : `${Math.min(laps.length + 1, lapsInRace)} of ${lapsInRace}`;
    write(this.lap, finish !== null ? "Finished" : timer.isOutLap ? "Lap lost: on to the line" : `Lap ${number}`);
    write(this.clock, timeText(finish ?? timer.ticks));
    write(this.gap, gap === null ? "" : `${gapText(gap.ticks)} to ${gap.to}`);
    this.gap.className = gap === null ? "" : gap.ticks > 0 ? "behind" : "ahead";
    write(this.last, laps.length > 0 ? timeText(laps[laps.length - 1].ticks) : "\u2013");
    write(this.best, best === null ? "\u2013" : timeText(best));
    showRow("target", target);
    showRow("goal", medal);
  }
}

/** Show a time in its row; without one, the row is hidden. */
function showRow(id: string, time: TimeToBeat | null): void {
  byId(`${id}-row`, HTMLElement).hidden = time === null;
  if (time === null) return;
  write(byId(`${id}-name`, HTMLElement), time.name);
  write(byId(id, HTMLElement), timeText(time.ticks));
}
