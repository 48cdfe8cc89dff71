/** Measures the frames of the built page with six cars: `npm run frames`, which takes five minutes. */

import { cpus } from "node:os";
import type { Browser, BrowserContextOptions, CDPSession } from "playwright-core";
import { CAMERAS, type CameraMode } from "../src/drawing/camera.js";
import { BROWSER, launch } from "../test/browser/launch.js";
import { DESK, Opened, PHONE } from "../test/browser/opened.js";
import { watchFrames } from "../test/browser/watched.js";
import { bestOf, type Figures, figuresOf, tableOf } from "./figures.js";

const TURNS = 3; // of each row
const LABELS = Array.from({ length: 6 }, (_, car) => `Car ${car}`);
const TICKS_APART = 4; // between the starts of two cars, so that all of them are seen
const WARM_UP_MS = 2500; // until all cars are fast, and the browser has compiled the page's code
const MEASURED_MS = 5000;

/** What is measured. */
interface Row {
  readonly window: string;
  readonly options: BrowserContextOptions;
  readonly camera: CameraMode;
  /** How many times slower the browser makes the page's thread. */
  readonly slowdown: number;
}

const ROWS: readonly Row[] = [
  ...CAMERAS.map((camera) => ({ window: "1280x720", options: DESK, camera, slowdown: 1 })),
  ...CAMERAS.map((camera) => ({
    window: "390x844 of 3x3 pixels each",
    options: { ...PHONE, deviceScaleFactor: 3 },
    camera,
    slowdown: 1,
  })),
  ...[4, 10].map((slowdown) => ({
    window: `1280x720, ${slowdown} times slower`,
    options: DESK,
    camera: CAMERAS[0],
    slowdown,
  })),
];

if (BROWSER === null) {
  console.error("error: expected chromium, chrome or msedge in PATH, found none; install one");
  process.exit(2);
}
const browser = await launch();
const rows = ROWS.map((row) => ({ ...row, turns: [] as Figures[] }));
for (let turn = 0; turn < TURNS; turn++) {
  for (const row of rows) row.turns.push(await measure(browser, row));
}
console.log(`${cpus().length} cores of ${cpus()[0].model}; Chromium ${browser.version()} without a graphics card\n`);
for (const line of tableOf(rows.map((row) => ({ ...row, figures: bestOf(row.turns) })))) console.log(line);
await browser.close();

/** Measure a row once. */
async function measure(browser: Browser, { options, camera, slowdown }: Row): Promise<Figures> {
  const opened = await Opened.open(browser, options, (site) => site.offer(LABELS));
  const { page } = opened;
  for (const box of await page.locator("input[name=driver]").all()) await box.check();
  await opened.begin("watch");
  await page.evaluate(startApart, TICKS_APART);
  for (let presses = CAMERAS.indexOf(camera); presses > 0; presses--) await page.keyboard.press("c");
  const device = await page.context().newCDPSession(page);
  await device.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  await page.waitForTimeout(WARM_UP_MS);
  await device.send("Performance.enable", { timeDomain: "threadTicks" });
  const before = await threadMs(device);
  const frames = await watchFrames(page, MEASURED_MS);
  const figures = figuresOf(frames, (await threadMs(device)) - before);
  await opened.close();
  return figures;
}

/** Runs in the page: let the cars start one after the other, as the same driver always drives alike. */
function startApart(ticksApart: number): void {
  const { world, entrants } = globalThis.racer.session!;
  const first = world.tick;
  for (const [car, { controller }] of entrants.entries()) {
    const act = controller.act.bind(controller);
    controller.act = (sight, action) => {
      if (world.tick - first >= car * ticksApart) return act(sight, action);
      action.set([0, 0, 1]);
    };
  }
}

/** Processor time that the page's thread has taken. */
async function threadMs(device: CDPSession): Promise<number> {
  const { metrics } = await device.send("Performance.getMetrics");
  return 1000 * metrics.find(({ name }) => name === "TaskDuration")!.value;
}
