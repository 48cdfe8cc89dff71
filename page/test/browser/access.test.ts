/** In a real browser, the page asks nobody else for anything, and can be used by keyboard and by screen readers. */

import axe from "axe-core";
import type { BrowserContextOptions, Page } from "playwright-core";
import { expect, it } from "vitest";
import { DESK, describeInBrowser, PHONE } from "./opened.js";

describeInBrowser("access in a browser", (open) => {
  it("asks for nothing beyond its own folder", async () => {
    const opened = await open();
    await opened.begin("race");
    await opened.page.waitForFunction(() => globalThis.racer.session!.countdown < 170);
    expect(opened.requests.filter((address) => !address.startsWith(opened.address))).toEqual([]);
    expect(opened.requests.some((address) => address.endsWith(".wasm"))).toBe(true);
    await opened.close();
  });

  it("may ask nobody else either", async () => {
    const opened = await open();
    const refused = await opened.page.evaluate(async () => {
      const broken: string[] = [];
      addEventListener("securitypolicyviolation", ({ effectiveDirective }) => broken.push(effectiveDirective));
      await fetch("http://127.0.0.2:9/").catch(() => {});
      const picture = new Image();
      picture.src = "http://127.0.0.2:9/picture.png";
      await new Promise((resolve) => picture.addEventListener("error", resolve));
      return broken;
    });
    expect(refused.sort()).toEqual(["connect-src", "img-src"]);
    await opened.close();
  });

  it("what goes wrong is seen on a phone, however far down the menu one is", async () => {
    const low = { ...PHONE, viewport: { width: 390, height: 400 } };
    const opened = await open(low, (site) => site.remove("drivers/pretrained.onnx"));
    const { page } = opened;
    await page.click("button[value=race]");
    await page.waitForSelector("#alert", { state: "visible" });
    expect(await page.evaluate(() => scrollY)).toBeGreaterThan(200);
    expect((await page.locator("#alert").boundingBox())!.y).toBeGreaterThanOrEqual(0);
    await opened.close();
  });

  it("an address chooses track and drivers, also after a reload, and names what the page lacks", async () => {
    const opened = await open();
    const { page } = opened;
    const chosen = () =>
      page.locator("#menu input:checked").evaluateAll((all) => all.map((input) => (input as HTMLInputElement).value));
    await opened.choose("track-02", ["held"]);
    await page.reload();
    await page.waitForSelector("#menu", { state: "visible" });
    expect(await chosen()).toEqual(["track-02", "held"]);
    await page.evaluate(() => {
      location.hash = "#track=track-03&drivers=pretrained,nobody";
    });
    await page.waitForSelector("#alert", { state: "visible" });
    expect(await page.locator("#alert").innerText()).toMatch(/names nobody, which/);
    expect(await chosen()).toEqual(["track-03", "pretrained"]);
    await opened.close();
  });

  it("is painted anew when the system's colours change, and offers six drivers at most", async () => {
    const opened = await open(undefined, (site) => site.offer([..."abcdefg"]));
    const { page } = opened;
    const text = () => page.evaluate(() => document.documentElement.style.getPropertyValue("--text"));
    const light = await text(); // as long as nobody asks for another
    await page.emulateMedia({ colorScheme: "dark" });
    await page.waitForFunction((before) => document.documentElement.style.getPropertyValue("--text") !== before, light);
    for (let i = 1; i < 6; i++) await page.check(`input[value=driver-${i}]`);
    expect(await page.locator("input[value=driver-6]").isDisabled()).toBe(true);
    expect(await page.locator("#drivers legend").innerText()).toBe("Drivers, up to six");
    expect(await page.locator("button[value=race]").innerText()).toContain("the first 5 of these drivers");
    await opened.close();
  });

  it("is driven by keyboard alone, from the menu and back", async () => {
    const opened = await open();
    const { page } = opened;
    await tabTo(page, "#tracks input:checked");
    await page.keyboard.press("ArrowRight");
    expect(await page.locator("input[name=track]:checked").getAttribute("value")).toBe("track-02");
    await tabTo(page, "input[value=held]");
    await page.keyboard.press("Space");
    await tabTo(page, "button[value=watch]");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#drive", { state: "visible" });
    expect(await page.evaluate(() => globalThis.racer.session!.entrants.length)).toBe(2);
    await page.keyboard.press("?");
    await page.waitForSelector("#help", { state: "visible" });
    await page.keyboard.press("Escape");
    await page.waitForSelector("#help", { state: "hidden" });
    await page.keyboard.press("Escape");
    await page.waitForSelector("#menu", { state: "visible" });
    await opened.close();
  });

  const windows: [string, BrowserContextOptions][] = [
    ["dark", { ...DESK, colorScheme: "dark" }],
    ["light", { ...DESK, colorScheme: "light" }],
    ["a dark phone", { ...PHONE, colorScheme: "dark" }],
    ["a light phone", { ...PHONE, colorScheme: "light" }],
  ];

  it.each(windows)("axe finds nothing serious on any screen: %s", async (_name, options) => {
    const opened = await open(options);
    const { page } = opened;
    const found = [...(await findings(page, "menu"))];
    await opened.choose("track-01", ["pretrained", "held"]);
    await opened.begin("race");
    found.push(...(await findings(page, "race")));
    await page.keyboard.press("?");
    found.push(...(await findings(page, "help")));
    await page.keyboard.press("Escape");
    await page.keyboard.press("Space");
    await page.waitForSelector("#paused", { state: "visible" });
    found.push(...(await findings(page, "paused")));
    expect(found).toEqual([]);
    await opened.close();
  });
});

/** Press Tab until something that a selector finds has the focus. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not reach ${selector}`);
}

/** What axe finds of serious or critical impact. */
async function findings(page: Page, screen: string): Promise<string[]> {
  await page.evaluate(axe.source);
  const results = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  return results.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${screen}: ${id}: ${nodes.map(({ html }) => html.slice(0, 90)).join(" | ")}`);
}
