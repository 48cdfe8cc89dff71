/** One's own best laps, kept in the browser's storage: a recording for each road. */

import type { TrackEntry } from "../data.js";

const PREFIX = "top-down-racer/best/";

/** The text of the recording that is kept for a track; null without one, or where the browser keeps nothing. */
export function keptLap(track: TrackEntry): string | null {
  try {
    return localStorage.getItem(PREFIX + track.fingerprint);
  } catch {
    return null; // a browser may refuse pages its storage, as in some private windows
  }
}

/** Keep a recording for a track; return whether that was possible: a storage can be full, or refused. */
export function keepLap(track: TrackEntry, text: string): boolean {
  try {
    localStorage.setItem(PREFIX + track.fingerprint, text);
    return true;
  } catch {
    return false;
  }
}

/** Forget the recording of a track. */
export function forgetLap(track: TrackEntry): void {
  try {
    localStorage.removeItem(PREFIX + track.fingerprint);
  } catch {
    // nothing is kept, then
  }
}
