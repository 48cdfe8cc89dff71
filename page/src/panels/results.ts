/** The end of a race: who came in where, and the medal of one's best lap. */

import { byId, make, within } from "../dom.js";
import type { Session } from "../game/session.js";
import { medalFor, timeText } from "../words.js";

const PLACES = ["1st", "2nd", "3rd", "4th", "5th", "6th"];

/** Fill the dialog that is shown once a person has finished. */
export function fillResults(session: Session, person: number): void {
  const standings = session.standings();
  const place = standings.findIndex(({ car }) => car === person);
  const best = session.world.timers[person].bestClean;
  const { parTicks } = session.loaded.entry;
  const medal = best === null ? null : medalFor(best, parTicks);
  byId("result-title", HTMLElement).textContent = place === 0 ? "You have won" : `You came in ${PLACES[place]}`;
  const line = byId("medal", HTMLElement);
  line.className = medal ?? "";
  line.textContent = medalLine(best, medal, parTicks?.bronze ?? null);
  const rows = standings.map(({ car, finish }, index) => {
    const lap = session.world.timers[car].best;
    const time = finish === null ? "still driving" : timeText(finish);
    const cells = [PLACES[index], session.entrants[car].label, time, lap === null ? "\u2013" : timeText(lap)];
    return make(
      "tr",
      "",
      cells.map((cell) => make("td", "", cell)),
    );
  });
  within(byId("result", HTMLElement), "tbody", HTMLElement).replaceChildren(...rows);
}

/** What is said of the medal: of the best clean lap's ticks, and of those that bronze takes. */
export function medalLine(best: number | null, medal: string | null, bronze: number | null): string {
  if (best === null) return "Every lap of yours touched a wall: a medal takes a clean one.";
  const lap = `Your best clean lap took ${timeText(best)} s`;
  if (bronze === null) return `${lap}. There are no par times for this track.`;
  return medal === null ? `${lap}: no medal. Bronze takes ${timeText(bronze)} s.` : `${lap}: a ${medal} medal.`;
}
