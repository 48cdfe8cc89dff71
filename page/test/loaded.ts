/** Tracks of the toolkit, for tests without a browser. */

import { readFileSync } from "node:fs";
import { Track } from "../../bridge/src/engine/track.js";
import { parsePhysicsNumbers } from "../../bridge/src/physics.js";
import { parseTrack } from "../../bridge/src/track_file.js";
import { parsePageData } from "../src/data.js";
import type { LoadedTrack } from "../src/loading.js";

const read = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));

export const PAGE = parsePageData(read("data/page.json"));

const PHYSICS = { ...parsePhysicsNumbers(read("../../physics.json"), "physics"), fingerprint: PAGE.physicsFingerprint };
const FILE = parseTrack(read("../../tracks/track-01.json"), "track-01");

/** The first track. */
export const LOADED: LoadedTrack = { entry: PAGE.tracks[0], file: FILE, track: new Track(FILE, PHYSICS) };

/** The text of a lap of it that the toolkit has driven. */
export const LAP = readFileSync(new URL("../../tests/recordings/browser_lap.json", import.meta.url), "utf8");
