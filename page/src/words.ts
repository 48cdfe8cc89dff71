/** How times and gaps are written. */

import { TICKS_PER_SECOND } from "../../bridge/src/engine/contract.js";
import { MEDALS, type ParTicks } from "./data.js";

/** A time, such as `7.42` or `1:02.35`, in seconds. */
export function timeText(ticks: number): string {
  const hundredths = Math.round((ticks * 100) / TICKS_PER_SECOND);
  const minutes = Math.floor(hundredths / 6000);
  const seconds = ((hundredths % 6000) / 100).toFixed(2);
  return minutes === 0 ? seconds : `${minutes}:${seconds.padStart(5, "0")}`;
}

/** A gap with its sign, such as `+0.25`; behind is positive. */
export function gapText(ticks: number): string {
  return `${ticks < 0 ? "\u2212" : "+"}${timeText(Math.abs(ticks))}`;
}

/** The medal that a lap of so many ticks earns; null without one. */
export function medalFor(ticks: number, par: ParTicks | null): keyof ParTicks | null {
  if (par === null) return null;
  return MEDALS.find((medal) => ticks <= par[medal]) ?? null;
}

/** The slowest medal that a lap of so many ticks does not earn yet; gold for one that earns all. */
export function nextMedal(ticks: number | null, par: ParTicks): keyof ParTicks {
  return [...MEDALS].reverse().find((medal) => ticks === null || ticks > par[medal]) ?? "gold";
}
