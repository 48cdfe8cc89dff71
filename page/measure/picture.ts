/** Makes docs/race_page.png, a race on the built page: `npm run picture`. */

import { fileURLToPath } from "node:url";
import { BROWSER, launch } from "../test/browser/launch.js";
import { DESK, Opened } from "../test/browser/opened.js";

const FILE = fileURLToPath(new URL("../../docs/race_page.png", import.meta.url));
const TICKS = 905; // from the start
const LABELS = ["general-long", "my driver"];
const LATE = [24, 0, 55]; // ticks by which each car starts behind the first, the person's first

if (BROWSER === null) {
  console.error("error: expected chromium, chrome or msedge in PATH, found none; install one");
  process.exit(2);
}
const browser = await launch();
const { page } = await Opened.open(browser, { ...DESK, colorScheme: "dark" }, (site) => site.offer(LABELS));
await page.check("input[value=track-03]");
for (const box of await page.locator("input[name=driver]").all()) await box.check();
await page.click("button[value=race]");
await page.waitForSelector("#drive", { state: "visible" });
await page.waitForSelector("#news", { state: "hidden" }); // what a person is told at the first start
await page.keyboard.press("Enter");
await page.evaluate(
  async ([ticks, late]) => {
    const session = globalThis.racer.session!;
    const [person, driver] = session.entrants.map(({ controller }) => controller);
    person.act = driver.act.bind(driver); // a driver stands in for the person
    for (const [car, { controller }] of session.entrants.entries()) {
      const act = controller.act.bind(controller);
      controller.act = (senses, action) => (session.world.tick < late[car] ? undefined : act(senses, action));
    }
    while (session.world.tick < ticks) await session.tick();
  },
  [TICKS, LATE] as const,
);
await page.keyboard.press("v");
await page.waitForTimeout(700); // for the camera to arrive
await page.screenshot({ path: FILE });
await browser.close();
