/** A real browser, if there is one. */

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome", "msedge"];
const FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync"],
];

/** The path of a browser; null where there is none, and tests that need one are skipped. */
export const BROWSER = findBrowser();

/** Start a browser with a profile of its own. */
export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: BROWSER ?? "", headless: true, args: FLAGS });
}

function findBrowser(): string | null {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    for (const name of NAMES) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        // the next one
      }
    }
  }
  return null;
}
