/** The end of a race: who came in where, and the medal of one's best lap. */

import type { ParTicks } from "../data.js";
import { byId, make, within } from "../dom.js";
import type { LapTimer } from "../game/laps.js";
import type { Session } from "../game/session.js";
import { medalFor, timeText } from "../words.js";

const PLACES = ["1st", "2nd", "3rd", "4th", "5th", "6th"];

/** Fill the dialog that is shown once a person has finished. */
export function fillResults(session: Session, person: number): void {
  const standings = session.standings();
  const place = standings.findIndex(({ car }) => car === person);
  const { medal, text } = medalOf(session.world.timers[person], session.loaded.entry.parTicks);
  byId("result-title", HTMLElement).textContent = place === 0 ? "You have won" : `You came in ${PLACES[place]}`;
  const line = byId("medal", HTMLElement);
  line.className = medal ?? "";
  line.textContent = text;
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

/** The medal that the best clean lap earns, and what is said of it. */
export function medalOf(
  { bestClean }: Pick<LapTimer, "bestClean">,
  par: ParTicks | null,
): { readonly medal: keyof ParTicks | null; readonly text: string } {
  if (bestClean === null) {
    return { medal: null, text: "Every lap of yours touched a wall: a medal takes a clean one." };
  }
  const medal = medalFor(bestClean, par);
  const lap = `Your best clean lap took ${timeText(bestClean)} s`;
  if (par === null) return { medal, text: `${lap}. There are no par times for this track.` };
  if (medal === null) return { medal, text: `${lap}: no medal. Bronze takes ${timeText(par.bronze)} s.` };
  return { medal, text: `${lap}: a ${medal} medal.` };
}
