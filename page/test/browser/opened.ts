/** A page that is open in a browser, with what it has asked for and complained of. */

import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe } from "vitest";
import { BROWSER, launch } from "./launch.js";
import { Site } from "./site.js";

export const DESK: BrowserContextOptions = { viewport: { width: 1280, height: 720 } };
export const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
};

/** Opens a site in a window of its own; see `Opened.open`. */
type Open = (options?: BrowserContextOptions, change?: (site: Site) => void, script?: () => void) => Promise<Opened>;

/** Describe tests in a browser of their own, in which `open` opens a site; where there is none they are skipped. */
export function describeInBrowser(what: string, define: (open: Open) => void): void {
  describe.skipIf(BROWSER === null)(what, () => {
    let browser: Browser;

    beforeAll(async () => {
      browser = await launch();
    });

    afterAll(async () => {
      await browser?.close();
    });

    define((...how) => Opened.open(browser, ...how));
  });
}

/** A site, open in a window of its own. */
export class Opened {
  /** Addresses that were asked for. */
  readonly requests: string[] = [];
  /** Errors that the page did not catch. */
  readonly errors: string[] = [];

  private constructor(
    readonly site: Site,
    readonly page: Page,
    readonly address: string,
  ) {}

  /** Open a site; `change` may change its files before, and `script` runs in the page before all else. */
  static async open(
    browser: Browser,
    options: BrowserContextOptions = DESK,
    change: (site: Site) => void = () => {},
    script: () => void = () => {},
  ): Promise<Opened> {
    const site = new Site();
    change(site);
    const context = await browser.newContext(options);
    await context.addInitScript(script);
    const page = await context.newPage();
    const opened = new Opened(site, page, await site.start());
    page.on("request", (request) => opened.requests.push(request.url()));
    page.on("pageerror", (error) => opened.errors.push(error.message));
    await page.goto(opened.address);
    await page.waitForSelector("#loading", { state: "hidden" });
    return opened;
  }

  /** Choose a track and drivers by their names. */
  async choose(trackId: string, drivers: readonly string[]): Promise<void> {
    await this.page.check(`input[value="${trackId}"]`);
    for (const box of await this.page.locator("input[name=driver]").all()) {
      await box.setChecked(drivers.includes((await box.getAttribute("value")) ?? ""));
    }
  }

  /** Begin to drive. */
  async begin(mode: "watch" | "race" | "trial"): Promise<void> {
    await this.page.click(`button[value=${mode}]`);
    await this.page.waitForSelector("#drive", { state: "visible" });
  }

  /** Load a file with a recording in it. */
  async load(text: string): Promise<void> {
    await this.page.setInputFiles("#file", {
      name: "lap.json",
      mimeType: "application/json",
      buffer: Buffer.from(text),
    });
  }

  async close(): Promise<void> {
    await this.page.context().close();
    this.site.stop();
  }
}
