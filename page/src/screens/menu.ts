/** The menu: which track, which drivers, and what to do with them. */

import { CentreLine } from "../../../bridge/src/engine/centre_line.js";
import { type DriverEntry, MEDALS, type TrackEntry } from "../data.js";
import { byId, make, within, write } from "../dom.js";
import { wholeView } from "../drawing/camera.js";
import { Screen } from "../drawing/canvas.js";
import { palette } from "../drawing/palette.js";
import { pixelOf } from "../drawing/view.js";
import { type Library, messageOf } from "../loading.js";
import { keptTicks } from "../storage/best_laps.js";
import { medalFor, timeText } from "../words.js";
import { fragmentOf, type Named } from "./address.js";

/** What can be done with a track and drivers. */
export const MODES = ["watch", "race", "trial"] as const;
export type Mode = (typeof MODES)[number];

/** What was chosen. */
export interface Choice {
  readonly mode: Mode;
  readonly trackId: string;
  readonly drivers: readonly string[];
}

const MOST_DRIVERS = 6; // as many as there are colours
/** Drivers beside a person. */
export const MOST_IN_RACE = MOST_DRIVERS - 1;

/** The menu's elements, filled once. */
export class Menu {
  private readonly form = byId("choice", HTMLFormElement);
  private readonly drawings: (() => void)[] = [];

  /** Fill the menu; `onChoice` is told what to do, `onFile` of a recording to load. */
  constructor(
    private readonly library: Library,
    onChoice: (choice: Choice) => void,
    onFile: (file: File) => void,
  ) {
    const { tracks, drivers } = library.data;
    within(byId("tracks", HTMLElement), ".cards", HTMLElement).append(
      ...tracks.map((track, index) => this.trackCard(track, index === 0)),
    );
    within(byId("drivers", HTMLElement), ".cards", HTMLElement).append(
      ...drivers.map((driver, index) => driverCard(driver, index === 0)),
    );
    this.form.addEventListener("change", () => this.choose({}));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      const mode = MODES.find((name) => name === (event.submitter as HTMLButtonElement | null)?.value) ?? "race";
      onChoice({ mode, ...this.chosen() });
    });
    const file = byId("file", HTMLInputElement);
    byId("load", HTMLButtonElement).addEventListener("click", () => file.click());
    file.addEventListener("change", () => {
      const [first] = file.files ?? [];
      if (first !== undefined) onFile(first);
      file.value = ""; // so that the same file can be chosen again
    });
    this.refresh();
  }

  /** Choose a track and drivers, as far as they are given, and keep the choice in the page's address. */
  choose({ trackId = null, drivers = null }: Partial<Named>): void {
    for (const input of this.form.querySelectorAll<HTMLInputElement>("input[name=track], input[name=driver]")) {
      const chosen = input.name === "track" ? trackId && [trackId] : drivers?.slice(0, MOST_DRIVERS);
      if (chosen) input.checked = chosen.includes(input.value);
    }
    this.refresh();
    const choice = this.chosen();
    history.replaceState(null, "", fragmentOf(choice.trackId, choice.drivers));
  }

  /** Draw the tracks, in the colours of now; only once the menu is shown have they a size. */
  draw(): void {
    for (const draw of this.drawings) draw();
  }

  private chosen(): { trackId: string; drivers: string[] } {
    const data = new FormData(this.form);
    return { trackId: String(data.get("track")), drivers: data.getAll("driver").map(String) };
  }

  /** Say what each driver does on the chosen track, and what can be done with the chosen ones. */
  private refresh(): void {
    const { trackId, drivers } = this.chosen();
    const track = this.library.data.tracks.find(({ id }) => id === trackId);
    for (const [index, { laps }] of this.library.data.drivers.entries()) {
      const measured = laps.get(trackId);
      const line = this.form.querySelectorAll("#drivers .lap")[index];
      line.textContent =
        measured === undefined ? "no time on this track" : lapLine(measured.ticks, measured.clean, track);
    }
    for (const input of this.form.querySelectorAll<HTMLInputElement>("input[name=driver]")) {
      input.disabled = drivers.length >= MOST_DRIVERS && !input.checked;
    }
    for (const button of this.form.querySelectorAll<HTMLButtonElement>("button[name=mode]")) {
      button.disabled = button.value !== "trial" && drivers.length === 0;
      within(button, "span", HTMLElement).textContent = aboutMode(button.value, drivers.length);
    }
    byId("most", HTMLElement).hidden = this.library.data.drivers.length <= MOST_DRIVERS;
  }

  private trackCard(track: TrackEntry, isChosen: boolean): HTMLElement {
    const input = make("input");
    Object.assign(input, { type: "radio", name: "track", value: track.id, checked: isChosen, required: true });
    const picture = make("canvas");
    picture.setAttribute("aria-hidden", "true");
    const about = make("small", "", `${Math.round(track.length).toLocaleString("en")} units`);
    this.drawings.push(() => void this.drawTrack(track, picture, about));
    const medals = MEDALS.map((medal) => {
      const ticks = track.parTicks?.[medal];
      const time = ticks === undefined ? "" : timeText(ticks);
      const span = make("span", medal, [make("span", "unseen", `${medal}: `), document.createTextNode(time)]);
      span.title = `${medal} medal: a lap in this time`;
      return span;
    });
    const par = make("small", "par", track.parTicks === null ? "no par times" : medals);
    const own = make("small");
    this.drawings.push(() => write(own, ownLine(keptTicks(track), track)));
    return make("label", "card", [picture, make("b", "", track.name), about, par, own, input]);
  }

  private async drawTrack(track: TrackEntry, picture: HTMLCanvasElement, about: HTMLElement): Promise<void> {
    try {
      drawLine(new CentreLine((await this.library.file(track.id)).controlPoints), picture);
    } catch (error) {
      about.className = "wrong";
      about.textContent = `${messageOf(error)}.`;
    }
  }
}

function aboutMode(mode: string, drivers: number): string {
  if (mode === "trial") return "You against your own best lap";
  if (drivers === 0) return "Choose at least one driver for it";
  if (mode === "watch") return "The drivers side by side, as ghosts";
  const which = drivers > MOST_IN_RACE ? `the first ${MOST_IN_RACE} of these drivers` : "the drivers";
  return `You against ${which}: three laps`;
}

function driverCard(driver: DriverEntry, isChosen: boolean): HTMLElement {
  const input = make("input");
  Object.assign(input, { type: "checkbox", name: "driver", value: driver.name, checked: isChosen });
  const about = driver.algorithm === null ? "algorithm not known" : `trained with ${driver.algorithm}`;
  return make("label", "card", [make("b", "", driver.label), make("small", "", about), make("small", "lap"), input]);
}

function ownLine(ticks: number | null, track: TrackEntry): string {
  const medal = ticks === null ? null : medalFor(ticks, track.parTicks);
  return ticks === null ? "" : `your best ${timeText(ticks)} s${medal === null ? "" : `, ${medal}`}`;
}

/** What is said of a driver's laps on a track. */
export function lapLine(ticks: readonly number[], isClean: boolean, track: TrackEntry | undefined): string {
  if (ticks.length === 0) return "completes no lap here";
  const best = Math.min(...ticks);
  const medal = isClean ? medalFor(best, track?.parTicks ?? null) : null;
  return `best lap ${timeText(best)} s${medal === null ? "" : `, ${medal}`}${isClean ? "" : ", touches walls"}`;
}

/** Draw a track's line into a card. */
function drawLine(line: CentreLine, picture: HTMLCanvasElement): void {
  const screen = new Screen(picture);
  if (!screen.fit()) return;
  const { context } = screen;
  const colours = palette();
  const count = Math.ceil(line.totalLength / 4);
  const points = Array.from({ length: count }, (_, i) => line.pointAt((i * line.totalLength) / count));
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  const room = line.totalLength / 80; // for the stroke and the dot
  const bounds = {
    left: Math.min(...xs) - room,
    right: Math.max(...xs) + room,
    bottom: Math.min(...ys) - room,
    top: Math.max(...ys) + room,
  };
  const view = wholeView(bounds, screen);
  screen.usePixels();
  context.clearRect(0, 0, screen.width, screen.height);
  context.beginPath();
  for (const { x, y } of points) context.lineTo(...pixelOf(view, x, y));
  context.closePath();
  context.lineJoin = "round";
  context.lineWidth = 5;
  context.strokeStyle = colours.textDim;
  context.stroke();
  context.beginPath();
  context.arc(...pixelOf(view, points[0].x, points[0].y), 4.5, 0, 2 * Math.PI);
  context.fillStyle = colours.accent;
  context.fill();
}
