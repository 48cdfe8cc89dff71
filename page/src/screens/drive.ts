/** The screen on which is driven: it runs the session, draws it, and obeys commands. */

import { TICKS_PER_SECOND } from "../../../bridge/src/engine/contract.js";
import type { Physics } from "../../../bridge/src/physics.js";
import { byId, within, write } from "../dom.js";
import { CAMERA_NAMES, Camera, type Covered } from "../drawing/camera.js";
import { Screen } from "../drawing/canvas.js";
import { drawMiniMap } from "../drawing/mini_map.js";
import { outlineOf } from "../drawing/outline.js";
import { carColour, onPaletteChange, palette } from "../drawing/palette.js";
import { type DrawnCar, Stage } from "../drawing/stage.js";
import { Telemetry } from "../drawing/telemetry.js";
import { Clock } from "../game/clock.js";
import { Hints } from "../game/hints.js";
import type { Session, SessionListener } from "../game/session.js";
import type { TimeTrial } from "../game/time_trial.js";
import type { Command } from "../input/commands.js";
import type { Controls } from "../input/controls.js";
import type { Person } from "../input/person.js";
import { News } from "../panels/news.js";
import { Panel } from "../panels/panel.js";
import { fillResults } from "../panels/results.js";
import { timeText } from "../words.js";
import { showHelp } from "./help.js";
import type { Preferences } from "./preferences.js";
import { answer, ask, closeDialogs, isAsking } from "./screens.js";

const PACES = [0.25, 0.5, 1, 2, 4, 8];
const PANEL_EVERY = 3; // frames; nobody reads faster than 20 times a second
const GO_TICKS = 50; // for which "Go" is shown
const RESULT_AFTER_MS = 1400; // so that one sees the car cross the line

/** What is driven, and by whom. */
export interface Setup {
  readonly title: string;
  readonly session: Session;
  readonly physics: Physics;
  readonly person: Person | null;
  readonly trial: TimeTrial | null;
  readonly controls: Controls;
  readonly preferences: Preferences;
}

/** What the screen asks of the page. */
export interface Exits {
  /** Leave for the menu, perhaps because of an error. */
  leave(error?: unknown): void;
  /** Begin the same again. */
  restart(): void;
  /** Save the best lap of the time trial as a file. */
  save(): void;
}

/** Runs from when it is made until it is closed. */
export class DriveScreen implements SessionListener {
  private readonly root = byId("drive", HTMLElement);
  private readonly stage: Stage;
  private readonly map = new Screen(byId("map", HTMLCanvasElement));
  private readonly strip = new Screen(byId("telemetry", HTMLCanvasElement));
  private readonly big = byId("big", HTMLElement);
  private readonly tools = byId("tools", HTMLElement);
  private readonly touch = byId("touch", HTMLElement);
  private readonly news = new News();
  private readonly panel: Panel;
  private readonly outline;
  private readonly clock = new Clock();
  private readonly camera = new Camera();
  private readonly telemetry = new Telemetry();
  private readonly end = new AbortController();
  private focus: number;
  private colours = palette();
  /** Dialogs that are waited for; the game goes on when there is none. */
  private waits = 0;
  /** When to show the result; null if there is none yet, or it was shown. */
  private resultAt: number | null = null;
  /** Whether the person asked for anything at the last frame. */
  private wasDriving = false;
  private lastFrame: number | null = null;
  private frames = 0;

  constructor(
    private readonly setup: Setup,
    private readonly exits: Exits,
  ) {
    const { session, preferences, physics } = setup;
    this.focus = session.person ?? 0;
    this.outline = outlineOf(session.loaded.track.geometry);
    this.stage = new Stage(byId("view", HTMLCanvasElement), this.outline, this.colours, physics);
    this.panel = new Panel(session, setup.trial, (car) => this.look(car));
    this.camera.mode = preferences.camera;
    session.listeners.push(this);
    if (session.person !== null) new Hints(session, session.person, (text) => this.say(text));
    this.prepare();
    this.watchOver();
    requestAnimationFrame(this.frame);
  }

  /** Stop driving and drawing. */
  close(): void {
    this.end.abort();
    this.news.close();
    closeDialogs();
  }

  /** Obey a command of a key or a button; while a dialog is open, gamepads alone still give any. */
  obey(command: Command): void {
    if (this.end.signal.aborted) return;
    if (isAsking() && command !== "restart") {
      if (command === "pause") answer("paused", "resume");
      return;
    }
    const commands: Record<Command, () => void> = {
      menu: () => this.exits.leave(),
      pause: () => void this.pause(),
      restart: () => this.exits.restart(),
      reset: () => this.reset(),
      camera: () => this.nextCamera(),
      rays: () => this.toggleRays(),
      assist: () => this.toggleAssist(),
      nextCar: () => this.look((this.focus + 1) % this.setup.session.entrants.length),
      faster: () => this.changePace(1),
      slower: () => this.changePace(-1),
      save: () => this.exits.save(),
      help: () => void this.help(),
    };
    commands[command]();
  }

  /** Tell something in a line. */
  say(text: string): void {
    this.news.say(text);
  }

  acted(car: number): void {
    if (car !== this.focus) return;
    const { cars } = this.setup.session.world.simulation;
    const speed = cars.speed[car] / this.setup.physics.maxSpeed;
    this.telemetry.see(speed, cars.steer[car], cars.throttle[car], cars.brake[car]);
  }

  placed(car: number): void {
    this.stage.marks.jump(car);
    this.camera.cut();
    const isRace = this.setup.session.rules.laps !== null;
    this.say(`Back on the road. This lap does not count${isRace ? ": there is one more to drive" : ""}.`);
  }

  finished(car: number): void {
    const { session } = this.setup;
    const { person } = session;
    if (person === null || session.finishes[person] === null) return;
    fillResults(session, person);
    if (car === person) this.resultAt = performance.now() + RESULT_AFTER_MS;
  }

  /** Show what belongs to this drive, and hide the rest. */
  private prepare(): void {
    const { title, session, person, trial } = this.setup;
    const { name } = session.loaded.entry;
    byId("title", HTMLElement).textContent = `${title}: ${name}`;
    byId("where", HTMLElement).textContent = `${title} \u00b7 ${name}`;
    const has = { "for-person": person !== null, "for-watching": person === null, "for-trial": trial !== null };
    for (const [name, isShown] of Object.entries(has)) {
      for (const element of this.root.querySelectorAll<HTMLElement>(`.${name}`)) element.hidden = !isShown;
    }
    if (person !== null) person.isAssisted = this.setup.preferences.isAssisted;
    this.showToggles();
  }

  /** A hidden tab pauses, and other colours are drawn at once. */
  private watchOver(): void {
    const { signal } = this.end;
    document.addEventListener("visibilitychange", () => document.hidden && void this.pause(), { signal });
    onPaletteChange(() => {
      this.colours = palette();
      this.stage.paint(this.colours);
    }, signal);
  }

  private readonly frame = async (now: number): Promise<void> => {
    if (this.end.signal.aborted) return;
    try {
      this.setup.controls.poll();
      this.lookAhead();
      if (this.waits === 0) await this.advance(now);
      if (this.end.signal.aborted) return;
      const begin = performance.now();
      this.draw(this.lastFrame === null ? 0 : (now - this.lastFrame) / 1000);
      globalThis.racer.drawingMs += performance.now() - begin;
    } catch (error) {
      this.exits.leave(error);
      return;
    }
    this.lastFrame = now;
    if (this.resultAt !== null && performance.now() >= this.resultAt && !isAsking()) void this.showResult();
    globalThis.racer.frames += 1;
    requestAnimationFrame(this.frame);
  };

  /** Who begins to steer wants to see where to. */
  private lookAhead(): void {
    const { session, person } = this.setup;
    const isDriving = person?.isActive ?? false;
    if (isDriving && !this.wasDriving && session.person !== null && session.finishes[session.person] === null) {
      this.look(session.person);
    }
    this.wasDriving = isDriving;
  }

  private async advance(now: number): Promise<void> {
    const { session, person, trial } = this.setup;
    if (trial !== null && session.world.tick === 0 && person?.isActive === false) {
      this.clock.rest(); // the clock of a time trial starts when the person does
      return;
    }
    for (let due = this.clock.due(now); due > 0 && !this.end.signal.aborted; due--) {
      await session.tick();
      if (session.countdown === 0) this.stage.marks.see(session.world.simulation.cars);
    }
  }

  private draw(seconds: number): void {
    const { session, physics, preferences } = this.setup;
    const { world } = session;
    const { cars } = world.simulation;
    const share = session.countdown > 0 ? 1 : this.clock.share;
    const drawn = session.entrants.map((_, car) => this.drawnCar(car, share));
    const { pose } = drawn[this.focus];
    if (this.stage.screen.fit()) {
      const speed = cars.speed[this.focus] / physics.maxSpeed;
      const velocity = [cars.vx[this.focus], cars.vy[this.focus]] as const;
      const { bounds } = this.outline;
      const view = this.camera.view(pose, speed, velocity, bounds, this.stage.screen, seconds, this.covered());
      const rays = preferences.hasRays ? { pose, observation: world.observation(this.focus) } : null;
      const ghost = this.ghost(share);
      const order = [...(ghost === null ? [] : [ghost]), ...[...drawn].reverse()];
      this.stage.draw(view, order, { rays, hasLabels: order.length > 1 });
    }
    if (this.frames % PANEL_EVERY === 0) this.drawPanel(drawn, share);
    this.frames += 1;
  }

  private drawPanel(drawn: readonly DrawnCar[], share: number): void {
    const { session, trial } = this.setup;
    const { countdown, world, rules } = session;
    const ghost = this.ghost(share);
    const dots = [...(ghost === null ? [] : [ghost]), ...[...drawn].reverse()].map(({ pose, colour }) => ({
      x: pose.x,
      y: pose.y,
      colour,
      isLarge: pose === drawn[this.focus].pose,
    }));
    drawMiniMap(this.map, this.outline, dots, this.colours);
    this.telemetry.draw(this.strip, this.colours);
    this.panel.show(this.focus);
    const isGo = rules.hasCountdown && countdown === 0 && world.tick < GO_TICKS;
    write(this.big, countdown > 0 ? String(Math.ceil(countdown / TICKS_PER_SECOND)) : isGo ? "Go" : "");
    if (trial !== null) within(this.root, "[data-command=save]", HTMLButtonElement).disabled = trial.best === null;
  }

  /** The buttons lie on the view; whatever is hidden has no height. */
  private covered(): Covered {
    return { top: this.tools.offsetHeight, bottom: this.touch.offsetHeight };
  }

  private drawnCar(car: number, share: number): DrawnCar {
    const { session, person } = this.setup;
    const { world } = session;
    const { cars } = world.simulation;
    return {
      pose: world.poses.at(car, share),
      colour: carColour(car),
      label: car === this.focus && this.camera.mode !== "whole" ? "" : session.entrants[car].label,
      isGhost: false,
      steer: cars.steer[car],
      brake: person !== null && car === session.person ? person.last[2] : cars.brake[car],
      speed: cars.speed[car],
    };
  }

  private ghost(share: number): DrawnCar | null {
    const { trial } = this.setup;
    const pose = trial?.ghostPose(share) ?? null;
    if (trial === null || trial.ghost === null || pose === null) return null;
    return { pose, colour: carColour(1), label: trial.ghost.label, isGhost: true, steer: 0, brake: 0, speed: 0 };
  }

  private async pause(): Promise<void> {
    if (isAsking()) return;
    this.go(await this.whilePaused(() => ask("paused", "p", "resume")));
  }

  /** Go where a dialog's button leads. */
  private go(button: string): void {
    if (button === "menu") this.exits.leave();
    if (button === "restart") this.exits.restart();
  }

  private async help(): Promise<void> {
    if (!isAsking()) await this.whilePaused(showHelp);
  }

  private async whilePaused<Answer>(wait: () => Promise<Answer>): Promise<Answer> {
    this.waits += 1;
    const answer = await wait();
    this.clock.rest();
    this.waits -= 1;
    return answer;
  }

  private async showResult(): Promise<void> {
    this.resultAt = null;
    this.go(await ask("result"));
  }

  private reset(): void {
    const { session } = this.setup;
    if (session.person !== null) session.resetToRoad(session.person);
  }

  private nextCamera(): void {
    this.camera.next();
    this.setup.preferences.camera = this.camera.mode;
    this.say(`Camera: ${CAMERA_NAMES[this.camera.mode]}`);
  }

  private toggleRays(): void {
    this.setup.preferences.hasRays = !this.setup.preferences.hasRays;
    this.showToggles();
  }

  private toggleAssist(): void {
    const { person, preferences } = this.setup;
    if (person === null) return;
    preferences.isAssisted = !preferences.isAssisted;
    person.isAssisted = preferences.isAssisted;
    this.say(`Steering assist ${person.isAssisted ? "on" : "off"}`);
    this.showToggles();
  }

  private showToggles(): void {
    const { hasRays, isAssisted } = this.setup.preferences;
    for (const [command, isOn] of Object.entries({ rays: hasRays, assist: isAssisted })) {
      within(this.root, `[data-command=${command}]`, HTMLElement).setAttribute("aria-pressed", String(isOn));
    }
  }

  private look(car: number): void {
    if (car === this.focus) return;
    this.focus = car;
    this.telemetry.clear();
    this.camera.cut();
    this.say(`Looking at ${this.setup.session.entrants[car].label}`);
  }

  private changePace(by: 1 | -1): void {
    if (this.setup.person !== null) return;
    const next = PACES.indexOf(this.clock.pace) + by;
    this.clock.pace = PACES[Math.min(Math.max(next, 0), PACES.length - 1)];
    this.say(`Speed: ${this.clock.pace}\u00d7`);
  }
}

/** What is said of a lap that is the best. */
export function bestLapNews(ticks: number, medal: string | null, isKept: boolean): string {
  const lap = `Best lap: ${timeText(ticks)} s${medal === null ? "" : `, a ${medal} medal`}.`;
  return isKept ? lap : `${lap} It could not be kept: the browser's storage is full or refused. Save it as a file.`;
}
