/** What the page finds in its folder: `page.json`, which names drivers and tracks, and its checks. */

import { Checker } from "../../bridge/src/checks.js";

/** The version of `page.json` that this page reads. */
export const VERSION = 1;

/** Laps from a standing start, as `training.evaluate` drives them. */
export interface MeasuredLaps {
  /** of each lap, in ticks */
  readonly ticks: readonly number[];
  /** whether no lap touched a wall */
  readonly clean: boolean;
}

/** A driver that the page has. */
export interface DriverEntry {
  /** unique; part of an address and of a recording's file name */
  readonly name: string;
  /** for people */
  readonly label: string;
  /** ONNX file that takes raw observations, relative to the page */
  readonly file: string;
  /** ticks that each action is held for */
  readonly actionRepeat: number;
  /** null where it is not known */
  readonly algorithm: string | null;
  /** by track id; a track on which it was not measured is absent */
  readonly laps: ReadonlyMap<string, MeasuredLaps>;
}

/** Ticks of a lap that earn a medal: that many or fewer. */
export interface ParTicks {
  readonly gold: number;
  readonly silver: number;
  readonly bronze: number;
}

/** A track that the page has. */
export interface TrackEntry {
  readonly id: string;
  readonly name: string;
  /** track file, relative to the page */
  readonly file: string;
  /** SHA-256 of what shapes the road, as the toolkit computes it; recordings name it */
  readonly fingerprint: string;
  /** of a lap, in units */
  readonly length: number;
  /** null where no par times are known */
  readonly parTicks: ParTicks | null;
}

/** The content of `page.json`. */
export interface PageData {
  readonly version: typeof VERSION;
  readonly drivers: readonly DriverEntry[];
  readonly tracks: readonly TrackEntry[];
  /** physics file, relative to the page */
  readonly physics: string;
  /** SHA-256 of the physics, as the toolkit computes it; recordings name it */
  readonly physicsFingerprint: string;
}

const PAGE_KEYS = ["version", "drivers", "tracks", "physics", "physicsFingerprint"];
const DRIVER_KEYS = ["name", "label", "file", "actionRepeat", "algorithm", "laps"];
const TRACK_KEYS = ["id", "name", "file", "fingerprint", "length", "parTicks"];
/** The medals, the best first. */
export const MEDALS = ["gold", "silver", "bronze"] as const;
const MAX_REPEAT = 1000; // ticks

/**
 * Check parsed page data.
 *
 * @param document The parsed `page.json`; keys that this page does not know are left alone, so that a later toolkit may
 *   say more.
 * @throws InputError A key is absent, a type or a number is wrong, or there is no track.
 */
export function parsePageData(document: unknown): PageData {
  const check = new Checker("page.json");
  const content = objectWith(check, document, "the page", PAGE_KEYS);
  check.integer(content.version, "version", VERSION, VERSION);
  const tracks = check.list(content.tracks, "tracks").map((entry, i) => parseTrackEntry(check, entry, `tracks[${i}]`));
  if (tracks.length === 0) throw check.fail("tracks must hold at least one track");
  const drivers = check.list(content.drivers, "drivers").map((entry, i) => parseDriver(check, entry, `drivers[${i}]`));
  checkUnique(
    check,
    "tracks",
    tracks.map(({ id }) => id),
  );
  checkUnique(
    check,
    "drivers",
    drivers.map(({ name }) => name),
  );
  return {
    version: VERSION,
    drivers,
    tracks,
    physics: check.text(content.physics, "physics"),
    physicsFingerprint: check.text(content.physicsFingerprint, "physicsFingerprint"),
  };
}

function checkUnique(check: Checker, key: string, names: readonly string[]): void {
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw check.fail(`${key} must have different names, got "${twice}" twice`);
}

function parseDriver(check: Checker, value: unknown, key: string): DriverEntry {
  const content = objectWith(check, value, key, DRIVER_KEYS);
  const laps = Object.entries(objectWith(check, content.laps, `${key}.laps`, []));
  return {
    name: check.text(content.name, `${key}.name`),
    label: check.text(content.label, `${key}.label`),
    file: check.text(content.file, `${key}.file`),
    actionRepeat: check.integer(content.actionRepeat, `${key}.actionRepeat`, 1, MAX_REPEAT),
    algorithm: content.algorithm === null ? null : check.text(content.algorithm, `${key}.algorithm`),
    laps: new Map(laps.map(([id, entry]) => [id, parseLaps(check, entry, `${key}.laps.${id}`)])),
  };
}

function parseLaps(check: Checker, value: unknown, key: string): MeasuredLaps {
  const content = objectWith(check, value, key, ["ticks", "clean"]);
  if (typeof content.clean !== "boolean") throw check.fail(`${key}.clean must be true or false`);
  const ticks = check.list(content.ticks, `${key}.ticks`);
  return { ticks: ticks.map((tick, i) => check.integer(tick, `${key}.ticks[${i}]`, 1)), clean: content.clean };
}

function parseTrackEntry(check: Checker, value: unknown, key: string): TrackEntry {
  const content = objectWith(check, value, key, TRACK_KEYS);
  return {
    id: check.text(content.id, `${key}.id`),
    name: check.text(content.name, `${key}.name`),
    file: check.text(content.file, `${key}.file`),
    fingerprint: check.text(content.fingerprint, `${key}.fingerprint`),
    length: check.number(content.length, `${key}.length`, 0),
    parTicks: content.parTicks === null ? null : parsePar(check, content.parTicks, `${key}.parTicks`),
  };
}

function parsePar(check: Checker, value: unknown, key: string): ParTicks {
  const content = objectWith(check, value, key, [...MEDALS]);
  const [gold, silver, bronze] = MEDALS.map((medal) => check.integer(content[medal], `${key}.${medal}`, 1));
  return { gold, silver, bronze };
}

/** An object that has some keys, and perhaps more. */
function objectWith(check: Checker, value: unknown, key: string, required: readonly string[]): Record<string, unknown> {
  const isObject = typeof value === "object" && value !== null;
  return check.object(value, key, isObject ? Object.keys(value) : [], required);
}
