/** In a real browser, a person races by keys, by gamepad and by touch. */

import type { CDPSession, Page } from "playwright-core";
import { expect, it } from "vitest";
import { drive, type Turn } from "./bot.js";
import { describeInBrowser, PHONE } from "./opened.js";

describeInBrowser("driving in a browser", (open) => {
  it("a race of three laps by keys ends with the order and a sentence on the medal", async () => {
    const opened = await open();
    const { page } = opened;
    await opened.choose("track-01", ["pretrained", "held"]);
    await opened.begin("race");
    expect(await page.locator("#big").innerText()).toBe("3");
    await drive(page, keys(page), () => globalThis.racer.session!.finishes[0] !== null, 90_000);
    await page.waitForSelector("#result", { state: "visible" });
    expect(await page.locator("#result-title").innerText()).toMatch(/^You (have won|came in)/);
    expect(await page.locator("#medal").innerText()).toMatch(
      /^Your best clean lap took \d+\.\d\d s: |^Every lap of yours touched a wall: /,
    );
    expect(await page.locator("#result tbody tr").count()).toBe(3);
    const ticks = await page.evaluate(() => [
      globalThis.racer.session!.finishes[0],
      globalThis.racer.session!.world.timers[0].laps.reduce((sum, { ticks }) => sum + ticks, 0),
    ]);
    expect(ticks[0]).toBe(ticks[1]);
    const row = await page.locator("#result tbody tr", { hasText: "You" }).locator("td").allInnerTexts();
    expect(await page.locator("#clock").innerText()).toBe(row[2]);
    const isBehind = !(await page.locator("#result-title").innerText()).includes("won");
    expect(await page.locator("#gap").innerText()).toMatch(isBehind ? /^\+/ : /^\u2212/);
    expect(await page.locator("#gap").getAttribute("class")).toBe(isBehind ? "behind" : "ahead");
    await page.keyboard.press("Escape");
    await page.waitForSelector("#result", { state: "hidden" });
    expect(opened.errors).toEqual([]);
    await opened.close();
  });

  it("a car that is put back on the road loses its lap", async () => {
    const opened = await open();
    const { page } = opened;
    await opened.choose("track-01", []);
    await opened.begin("trial");
    await page.keyboard.down("w");
    await page.waitForFunction(() => globalThis.racer.session!.world.simulation.cars.speed[0] > 30);
    await page.keyboard.press("r");
    await page.keyboard.up("w");
    expect(await page.locator("#news").innerText()).toBe("Back on the road. This lap does not count.");
    await page.waitForFunction(() => globalThis.racer.session!.world.timers[0].isOutLap);
    expect(await page.evaluate(() => globalThis.racer.session!.world.simulation.cars.speed[0])).toBeLessThan(30);
    await opened.close();
  });

  it("a gamepad's stick and trigger drive a lap, and its Start button pauses", async () => {
    const opened = await open(undefined, undefined, fakeGamepad);
    const { page } = opened;
    await opened.choose("track-01", []);
    await opened.begin("trial");
    const act = ({ steer, brake }: Turn) =>
      page.evaluate(([steer, brake]) => globalThis.turnPad(steer, brake), [steer, Number(brake)] as const);
    await drive(page, act, () => globalThis.racer.session!.world.timers[0].laps.length > 0, 60_000);
    await page.evaluate(() => globalThis.pressPad(9));
    await page.waitForSelector("#paused", { state: "visible" });
    const tick = await page.evaluate(() => globalThis.racer.session!.world.tick);
    await page.waitForTimeout(300);
    expect(await page.evaluate(() => globalThis.racer.session!.world.tick)).toBe(tick);
    await page.evaluate(() => globalThis.pressPad(9, false));
    await page.waitForTimeout(100);
    await page.evaluate(() => globalThis.pressPad(9));
    await page.waitForSelector("#paused", { state: "hidden" });
    await page.evaluate(() => globalThis.pressPad(8)); // held, as by a thumb
    await page.waitForFunction(() => globalThis.racer.session!.world.tick < 30);
    const again = await page.evaluateHandle(() => globalThis.racer.session);
    await page.waitForTimeout(300);
    expect(await page.evaluate((session) => session === globalThis.racer.session, again)).toBe(true);
    await opened.close();
  });

  it("starting again leaves one drive, and what is held stays held", async () => {
    const opened = await open();
    const { page } = opened;
    await opened.choose("track-01", []);
    await opened.begin("trial");
    await page.keyboard.down("ArrowUp");
    for (let i = 0; i < 4; i++) await page.keyboard.press("Enter");
    await page.waitForFunction(() => globalThis.racer.session!.world.simulation.cars.throttle[0] > 0.5);
    const [drawn, shown] = await page.evaluate(async () => {
      const before = globalThis.racer.frames;
      for (let i = 0; i < 20; i++) await new Promise(requestAnimationFrame);
      return [globalThis.racer.frames - before, 20];
    });
    expect(drawn).toBeLessThanOrEqual(shown + 1);
    await page.evaluate(() => dispatchEvent(new Event("blur")));
    await page.waitForFunction(() => globalThis.racer.session!.world.simulation.cars.throttle[0] < 0.1);
    await opened.close();
  });

  it("fingers drive on a phone", async () => {
    const opened = await open(PHONE);
    const { page } = opened;
    await opened.choose("track-01", []);
    await opened.begin("trial");
    const act = fingers(page, await page.context().newCDPSession(page));
    await drive(page, act, () => globalThis.racer.session!.world.progress[0].distance > 500, 60_000);
    await page.evaluate(() => {
      for (const id of ["steer", "go", "brake"]) {
        for (let pointerId = 0; pointerId < 100; pointerId++) {
          document.getElementById(id)!.dispatchEvent(new PointerEvent("pointercancel", { pointerId }));
        }
      }
    });
    expect(await page.locator("#touch .held").count()).toBe(0);
    expect(opened.errors).toEqual([]);
    await opened.close();
  });

  it("the clock of a time trial starts when the person does", async () => {
    const opened = await open();
    const { page } = opened;
    await opened.begin("trial");
    expect(await page.locator("#news").innerText()).toMatch(/drive.*The clock starts when you do/);
    const frames = await page.evaluate(() => globalThis.racer.frames);
    await page.waitForFunction((before) => globalThis.racer.frames > before + 20, frames);
    expect(await page.evaluate(() => globalThis.racer.session!.world.tick)).toBe(0);
    await page.keyboard.down("ArrowUp");
    await page.waitForFunction(() => globalThis.racer.session!.world.tick > 5);
    await opened.close();
  });

  it("P pauses and goes on, and ? opens the help and closes it", async () => {
    const opened = await open();
    const { page } = opened;
    await opened.begin("watch");
    for (const [key, id] of [
      ["p", "#paused"],
      ["?", "#help"],
    ]) {
      await page.keyboard.press(key);
      await page.waitForSelector(id, { state: "visible" });
      await page.keyboard.press(key);
      await page.waitForSelector(id, { state: "hidden" });
    }
    const tick = await page.evaluate(() => globalThis.racer.session!.world.tick);
    await page.waitForFunction((before) => globalThis.racer.session!.world.tick > before, tick);
    await opened.close();
  });

  it("who looks at another car and drives on sees their own again", async () => {
    const opened = await open();
    const { page } = opened;
    await opened.begin("race");
    await page.keyboard.press("n");
    await page.waitForFunction(() => document.querySelector("#order [aria-pressed=true] .name")?.textContent !== "You");
    await page.keyboard.down("ArrowUp");
    await page.waitForFunction(() => document.querySelector("#order [aria-pressed=true] .name")?.textContent === "You");
    await opened.close();
  });

  it("the browser's Back leads from a drive to the menu", async () => {
    const opened = await open();
    const { page } = opened;
    await opened.begin("watch");
    await page.goBack();
    await page.waitForSelector("#menu", { state: "visible" });
    await opened.begin("watch");
    await page.keyboard.press("Escape");
    await page.waitForSelector("#menu", { state: "visible" });
    expect(page.url()).toContain(opened.address);
    expect(opened.errors).toEqual([]);
    await opened.close();
  });
});

/** Hold the keys that a turn asks for, and full throttle. */
function keys(page: Page): (turn: Turn) => Promise<void> {
  const held = new Set<string>();
  return async ({ steer, brake }) => {
    const wanted = [brake ? "ArrowDown" : "ArrowUp"];
    if (steer !== 0) wanted.push(steer > 0 ? "ArrowRight" : "ArrowLeft");
    for (const key of [...held].filter((key) => !wanted.includes(key))) {
      held.delete(key);
      await page.keyboard.up(key);
    }
    for (const key of wanted.filter((key) => !held.has(key))) {
      held.add(key);
      await page.keyboard.down(key);
    }
  };
}

/** Slide one finger on the steering strip, and hold another on Go or Brake. */
function fingers(page: Page, device: CDPSession): (turn: Turn) => Promise<void> {
  let isDown = false;
  return async ({ steer, brake }) => {
    const [strip, pedal] = await Promise.all([
      page.locator("#steer").boundingBox(),
      page.locator(brake ? "#brake" : "#go").boundingBox(),
    ]);
    const touchPoints = [
      { x: strip!.x + strip!.width * (0.5 + 0.4 * steer), y: strip!.y + 30, id: 1 },
      { x: pedal!.x + 30, y: pedal!.y + 30, id: 2 },
    ];
    await device.send("Input.dispatchTouchEvent", { type: isDown ? "touchMove" : "touchStart", touchPoints });
    isDown = true;
  };
}

declare global {
  function turnPad(steer: number, brake: number): void;
  function pressPad(button: number, isDown?: boolean): void;
}

/** Runs in the page: a gamepad that `turnPad` and `pressPad` move. */
function fakeGamepad(): void {
  const buttons = Array.from({ length: 17 }, () => ({ pressed: false, touched: false, value: 0 }));
  const axes = [0, 0, 0, 0];
  const pad = { id: "fake", index: 0, connected: true, mapping: "standard", timestamp: 0, axes, buttons };
  Object.defineProperty(navigator, "getGamepads", { value: () => [null, pad] });
  globalThis.turnPad = (steer, brake) => {
    axes[0] = steer;
    buttons[7].value = 1 - brake;
    buttons[6].value = brake;
  };
  globalThis.pressPad = (button, isDown = true) => {
    buttons[button].pressed = isDown;
  };
}
