/** The page as a whole: from the menu to a drive and back. */

import { byId } from "./dom.js";
import { onPaletteChange, paintDocument } from "./drawing/palette.js";
import { DriverController } from "./driver/driver.js";
import { type Entrant, type Rules, Session } from "./game/session.js";
import { TimeTrial } from "./game/time_trial.js";
import type { Command } from "./input/commands.js";
import { Controls } from "./input/controls.js";
import { Person } from "./input/person.js";
import { type Library, type LoadedTrack, messageOf } from "./loading.js";
import { namedIn } from "./screens/address.js";
import { bestLapNews, DriveScreen } from "./screens/drive.js";
import { showHelp } from "./screens/help.js";
import { type Choice, Menu, MOST_IN_RACE, type Mode } from "./screens/menu.js";
import { defaultPreferences } from "./screens/preferences.js";
import { show } from "./screens/screens.js";
import { forgetLap, keepLap, keptLap, keptTicks } from "./storage/best_laps.js";
import { bestLapOf, parseRecording, type RecordedLap, recordingText } from "./storage/recording_file.js";
import { medalFor, timeText } from "./words.js";

const TITLES: Readonly<Record<Mode, string>> = { watch: "Watch", race: "Race", trial: "Time trial" };
const RULES: Readonly<Record<Mode, Rules>> = {
  watch: { hasCountdown: false, laps: null },
  race: { hasCountdown: true, laps: 3 },
  trial: { hasCountdown: false, laps: null },
};

/** Runs the page. */
export class Page {
  private readonly menu: Menu;
  private readonly preferences = defaultPreferences();
  /** Laps from files, by the fingerprint of their road: the ones to beat. */
  private readonly loadedLaps = new Map<string, RecordedLap>();
  private screen: DriveScreen | null = null;
  /** What is held in the hands, also when the same is begun again. */
  private controls: Controls | null = null;
  private isBusy = false;

  constructor(private readonly library: Library) {
    this.menu = new Menu(
      library,
      (choice) => void this.begin(choice),
      (file) => void this.load(file),
    );
    for (const button of document.querySelectorAll<HTMLButtonElement>("[data-command]")) {
      button.addEventListener("click", (event) => {
        if (event.detail > 0) button.blur(); // after a mouse's click, space is to pause, and not to press it again
        this.obey(button.dataset.command as Command);
      });
    }
    addEventListener("keydown", (event) => {
      const isDialog = event.target instanceof Element && event.target.closest("dialog") !== null;
      if (this.screen === null && event.key === "?" && !isDialog) void showHelp();
    });
    onPaletteChange(() => {
      paintDocument();
      this.menu.draw();
    }, new AbortController().signal);
    this.showMenu();
    addEventListener("hashchange", () => this.takeAddress());
    addEventListener("storage", () => this.menu.draw()); // a best lap of another tab
    addEventListener("popstate", () => this.screen !== null && this.showMenu()); // the browser's Back
    this.takeAddress();
  }

  /** Choose what the page's address names; on a drive, that is for later. */
  private takeAddress(): void {
    const named = namedIn(location.hash, this.library.data);
    if (named.trackId !== null || named.drivers !== null) this.menu.choose(named);
    if (named.unknown.length > 0) {
      this.tell("alert", `The page's address names ${named.unknown.join(", ")}, which this page does not have.`);
    }
  }

  private obey(command: Command): void {
    if (this.screen !== null) this.screen.obey(command);
    else if (command === "help") void showHelp();
  }

  /** Begin to drive, or say on the menu why that is not possible. */
  private async begin(choice: Choice): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    const controls = new Controls(); // from now on, as a key that is down while drivers are loaded is down at the start
    this.controls = controls;
    this.tell("status", "Loading\u2026");
    try {
      const loaded = await this.library.track(choice.trackId);
      const drivers = choice.mode === "trial" ? [] : await this.drivers(choice);
      history.pushState(null, "");
      this.drive(choice, loaded, drivers, controls);
    } catch (error) {
      this.showMenu(error);
    } finally {
      this.isBusy = false;
    }
  }

  private drivers({ drivers, mode }: Choice): Promise<Entrant[]> {
    const names = drivers.slice(0, mode === "race" ? MOST_IN_RACE : undefined);
    return Promise.all(
      names.map(async (name) => {
        const driver = await this.library.driver(name);
        const entry = this.library.data.drivers.find((other) => other.name === name);
        const controller = new DriverController(driver, entry?.actionRepeat ?? 1);
        return { label: entry?.label ?? name, controller, isPerson: false };
      }),
    );
  }

  private drive(choice: Choice, loaded: LoadedTrack, drivers: readonly Entrant[], controls: Controls): void {
    const person = choice.mode === "watch" ? null : new Person(() => controls.wish());
    const own = person === null ? [] : [{ label: "You", controller: person, isPerson: true }];
    const session = new Session(loaded, [...own, ...drivers], RULES[choice.mode]);
    const notes: string[] = [];
    const trial = choice.mode === "trial" ? this.timeTrial(session, loaded, notes) : null;
    if (person !== null) notes.push(...this.howToDrive(choice.mode));
    this.screen?.close();
    show("drive");
    const { preferences } = this;
    const { physics } = this.library;
    const setup = { title: TITLES[choice.mode], session, physics, person, trial, controls, preferences };
    const screen = new DriveScreen(setup, {
      leave: (error) => {
        this.showMenu(error);
        history.back();
      },
      restart: () => this.drive(choice, loaded, drivers, controls),
      save: () => this.save(trial, loaded),
    });
    controls.onCommand = (command) => screen.obey(command);
    this.screen = screen;
    if (notes.length > 0) screen.say(notes.join(" "));
    globalThis.racer.session = session;
  }

  /** How to drive, once; on a phone there are no keys. */
  private howToDrive(mode: Mode): string[] {
    if (this.preferences.wasTold) return [];
    this.preferences.wasTold = true;
    const how = matchMedia("(pointer: coarse)").matches
      ? "Slide at the left to steer, hold Go at the right."
      : "Arrow keys or W A S D drive, R puts the car back on the road, ? helps.";
    return mode === "trial" ? [how, "The clock starts when you do."] : [how];
  }

  private timeTrial(session: Session, loaded: LoadedTrack, notes: string[]): TimeTrial {
    const fromFile = this.loadedLaps.get(loaded.entry.fingerprint) ?? null;
    return new TimeTrial(session, 0, this.ownBest(loaded, notes), fromFile, (best) => {
      const ticks = best.path.ticks;
      const kept = keptTicks(loaded.entry); // perhaps of another tab
      const isBetter = kept === null || ticks < kept;
      const isKept =
        !isBetter || keepLap(loaded.entry, recordingText(best.recording, loaded, this.library.data), ticks);
      this.screen?.say(bestLapNews(ticks, medalFor(ticks, loaded.entry.parTicks), isKept));
    });
  }

  /** The lap in the browser's storage; one that is damaged, or of another game, is forgotten. */
  private ownBest(loaded: LoadedTrack, notes: string[]): RecordedLap | null {
    const text = keptLap(loaded.entry);
    if (text === null) return null;
    try {
      return bestLapOf(parseRecording(text, this.library.data).recording, loaded);
    } catch (error) {
      notes.push(`The best lap that the browser kept is forgotten. ${messageOf(error)}.`);
      forgetLap(loaded.entry);
      return null;
    }
  }

  private save(trial: TimeTrial | null, loaded: LoadedTrack): void {
    const best = trial?.best ?? null;
    if (best === null) return;
    const text = recordingText(best.recording, loaded, this.library.data);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = `${loaded.entry.id}_${timeText(best.path.ticks).replace(":", "-")}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  /** Take a recording from a file as the lap to beat on its track. */
  private async load(file: File): Promise<void> {
    try {
      const { recording, entry } = parseRecording(await file.text(), this.library.data);
      const best = bestLapOf(recording, await this.library.track(entry.id));
      this.loadedLaps.set(entry.fingerprint, best);
      this.menu.choose({ trackId: entry.id });
      const time = timeText(best.path.ticks);
      this.tell(
        "status",
        `A lap of ${time} s by ${recording.driver} is now the one to beat in the time trial on ${entry.name}.`,
      );
    } catch (error) {
      this.tell("alert", `${messageOf(error)}.`);
    }
  }

  private showMenu(error?: unknown): void {
    this.screen?.close();
    this.screen = null;
    this.controls?.close();
    this.controls = null;
    globalThis.racer.session = null;
    show("menu");
    this.menu.draw();
    this.tell("alert", error === undefined ? "" : `${messageOf(error)}.`);
  }

  /** Tell something on the menu, in place of what was told before. */
  private tell(kind: "alert" | "status", text: string): void {
    for (const id of ["alert", "status"]) {
      const line = byId(id, HTMLElement);
      line.textContent = id === kind ? text : "";
      line.hidden = line.textContent === "";
    }
  }
}
