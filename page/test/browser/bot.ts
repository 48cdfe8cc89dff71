/** Drives a person's car as a person would: it looks where the road goes, and turns a key, a stick or a finger. */

import type { Page } from "playwright-core";

const STRAIGHT = 0.03; // radians off the road's direction within which it does not steer
const LOOK_MS = 40; // between two looks

/** What the bot wants: steering left, right or not, and whether to brake. */
export interface Turn {
  readonly steer: -1 | 0 | 1;
  readonly brake: boolean;
}

/** Drive until something is true of the page; `act` turns what the bot wants into input. */
export async function drive(
  page: Page,
  act: (turn: Turn) => Promise<void>,
  isDone: () => boolean,
  timeoutMs: number,
): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    if (await page.evaluate(isDone)) return;
    if (Date.now() > end) throw new Error(`the bot is not done: ${await page.locator("#panel").innerText()}`);
    const { error, speed } = await page.evaluate(look);
    const steer = Math.abs(error) < STRAIGHT ? 0 : error > 0 ? -1 : 1;
    await act({ steer, brake: Math.abs(error) > 0.5 && speed > 60 });
    await page.waitForTimeout(LOOK_MS);
  }
}

/** Runs in the page: how far the road ahead is to the left of the car's heading, in radians, and the speed. */
function look(): { error: number; speed: number } {
  const session = globalThis.racer.session!;
  const car = session.person ?? 0;
  const { cars } = session.world.simulation;
  const { centreLine } = session.loaded.track.geometry;
  const ahead = centreLine.pointAt(cars.arcLength[car] + 25 + 0.3 * cars.speed[car]);
  const wanted = Math.atan2(ahead.y - cars.y[car], ahead.x - cars.x[car]);
  const turn = wanted - cars.heading[car];
  return { error: Math.atan2(Math.sin(turn), Math.cos(turn)), speed: cars.speed[car] };
}
