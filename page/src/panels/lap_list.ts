/** The laps of one car, each with its gap to the best. */

import { byId, make, within } from "../dom.js";
import type { Lap } from "../game/laps.js";
import { gapText, timeText } from "../words.js";

/** The panel's table of laps. */
export class LapList {
  private readonly body = within(byId("laps", HTMLElement), "tbody", HTMLElement);
  private shown: readonly Lap[] | null = null;
  private count = -1;

  /** Show some laps, the latest first; nothing is done where they are those shown already. */
  show(laps: readonly Lap[]): void {
    if (laps === this.shown && laps.length === this.count) return;
    this.shown = laps;
    this.count = laps.length;
    const best = Math.min(...laps.map(({ ticks }) => ticks));
    const rows = laps.map(({ ticks, isClean }, index) => {
      const gap = ticks === best ? "best" : gapText(ticks - best);
      const time = make("td", "", isClean ? timeText(ticks) : `wall ${timeText(ticks)}`);
      return make("tr", "", [make("td", "", String(index + 1)), time, make("td", "", gap)]);
    });
    this.body.replaceChildren(...rows.reverse());
  }
}
