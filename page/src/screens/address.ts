/** The choice of track and drivers in the page's address, so that it is there after a reload and can be sent to others. */

import type { PageData } from "../data.js";

/** What an address names of a page; null where it names nothing. */
export interface Named {
  readonly trackId: string | null;
  readonly drivers: readonly string[] | null;
  /** What it names and the page does not have. */
  readonly unknown: readonly string[];
}

/** Read the fragment of an address, such as `#track=track-01&drivers=a,b`. */
export function namedIn(fragment: string, { tracks, drivers }: PageData): Named {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const unknown: string[] = [];
  const isThere = (name: string, all: readonly string[]): boolean => {
    if (!all.includes(name)) unknown.push(name);
    return all.includes(name);
  };
  const track = fields.get("track");
  const names = fields.get("drivers")?.split(",").filter(Boolean) ?? null;
  const trackIds = tracks.map(({ id }) => id);
  const driverNames = drivers.map(({ name }) => name);
  return {
    trackId: track !== null && isThere(track, trackIds) ? track : null,
    drivers: names?.filter((name) => isThere(name, driverNames)) ?? null,
    unknown,
  };
}

/** The fragment that names a track and drivers. */
export function fragmentOf(trackId: string, drivers: readonly string[]): string {
  return `#track=${encodeURIComponent(trackId)}&drivers=${drivers.map(encodeURIComponent).join(",")}`;
}
