/** What the page offers in the browser's console, and to its tests: `racer`. */

import { DriverController } from "./driver/driver.js";
import type { Lap } from "./game/laps.js";
import { measureLaps } from "./game/measure.js";
import type { Session } from "./game/session.js";
import type { Library } from "./loading.js";

/** The handle in the console. */
export class Racer {
  /** What is being driven, and null on the menu. */
  session: Session | null = null;
  /** Pictures that were drawn since the page was opened. */
  frames = 0;
  /** Milliseconds that the script took to draw them. */
  drawingMs = 0;

  constructor(private readonly library: Library) {}

  /** Drive laps from a standing start without a picture, as `training.evaluate` does. */
  async measureLaps(driver: string, trackId: string, laps: number): Promise<readonly Lap[]> {
    const { track } = await this.library.track(trackId);
    const repeat = this.library.data.drivers.find(({ name }) => name === driver)?.actionRepeat ?? 1;
    return measureLaps(track, new DriverController(await this.library.driver(driver), repeat), laps);
  }
}

declare global {
  var racer: Racer;
}
