/** One's own best laps, kept in the browser's storage: a recording for each road. */

import type { TrackEntry } from "../data.js";

const PREFIX = "top-down-racer/best/";
const TICKS = "/ticks"; // how long it took stands beside it, as driving a recording again takes a while

/** The text of the recording that is kept for a track; null without one, or where the browser keeps nothing. */
export function keptLap(track: TrackEntry): string | null {
  try {
    return localStorage.getItem(PREFIX + track.fingerprint);
  } catch {
    return null; // a browser may refuse pages its storage, as in some private windows
  }
}

/** Ticks of the lap that is kept for a track; null where that is not known. */
export function keptTicks(track: TrackEntry): number | null {
  try {
    return Number(localStorage.getItem(PREFIX + track.fingerprint + TICKS)) || null;
  } catch {
    return null;
  }
}

/** Keep a recording for a track; return whether that was possible: a storage can be full, or refused. */
export function keepLap(track: TrackEntry, text: string, ticks: number): boolean {
  try {
    localStorage.setItem(PREFIX + track.fingerprint, text);
    localStorage.setItem(PREFIX + track.fingerprint + TICKS, String(ticks));
    return true;
  } catch {
    return false;
  }
}

/** Forget the recording of a track. */
export function forgetLap(track: TrackEntry): void {
  try {
    for (const end of ["", TICKS]) localStorage.removeItem(PREFIX + track.fingerprint + end);
  } catch {
    // nothing is kept, then
  }
}
