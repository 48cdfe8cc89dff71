/** Fetches what the page needs from its own folder; every error is a sentence for people. */

import { InputError } from "../../bridge/src/checks.js";
import { Track } from "../../bridge/src/engine/track.js";
import { type Physics, parsePhysicsNumbers } from "../../bridge/src/physics.js";
import { checkGateSpacing, parseTrack, type TrackFile } from "../../bridge/src/track_file.js";
import { type DriverEntry, type PageData, parsePageData, type TrackEntry } from "./data.js";
import type { Driver } from "./driver/driver.js";

/** A track to drive on, and its file's content, which recordings hold. */
export interface LoadedTrack {
  readonly entry: TrackEntry;
  readonly file: TrackFile;
  readonly track: Track;
}

/** Everything that the page's folder offers; tracks and drivers are fetched when they are first asked for. */
export class Library {
  private readonly files = new Map<string, Promise<TrackFile>>();
  private readonly tracks = new Map<string, Promise<LoadedTrack>>();
  private readonly drivers = new Map<string, Promise<Driver>>();

  private constructor(
    readonly data: PageData,
    readonly physics: Physics,
  ) {}

  /** Fetch `page.json` and the physics; throws an InputError. */
  static async open(): Promise<Library> {
    const data = parsePageData(await fetchJson("page.json", "the list of drivers and tracks"));
    const numbers = parsePhysicsNumbers(await fetchJson(data.physics, "the physics"), data.physics);
    return new Library(data, { ...numbers, fingerprint: data.physicsFingerprint });
  }

  /** The checked file of a track; throws an InputError. */
  file(id: string): Promise<TrackFile> {
    return remembered(this.files, id, async () => {
      const entry = this.entry(id);
      const document = await fetchJson(entry.file, `the track "${entry.name}"`);
      return drivable(entry, () => {
        const file = parseTrack(document, entry.file);
        checkGateSpacing(file, entry.file, this.physics);
        return file;
      });
    });
  }

  /** A track of the page, the same object every time; throws an InputError. */
  track(id: string): Promise<LoadedTrack> {
    return remembered(this.tracks, id, async () => {
      const [entry, file] = [this.entry(id), await this.file(id)];
      return drivable(entry, () => ({ entry, file, track: new Track(file, this.physics) }));
    });
  }

  /** A driver of the page, the same object every time; throws an InputError. */
  driver(name: string): Promise<Driver> {
    return remembered(this.drivers, name, () => this.loadDriver(name));
  }

  private entry(trackId: string): TrackEntry {
    const entry = this.data.tracks.find(({ id }) => id === trackId);
    if (entry === undefined) throw new InputError(`This page has no track "${trackId}".`);
    return entry;
  }

  private async loadDriver(name: string): Promise<Driver> {
    const entry: DriverEntry | undefined = this.data.drivers.find((other) => other.name === name);
    if (entry === undefined) throw new InputError(`This page has no driver "${name}".`);
    const response = await fetched(entry.file, `the driver "${entry.label}"`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    let runtime: typeof import("./driver/onnx_driver.js");
    try {
      runtime = await import("./driver/onnx_driver.js"); // late: its WebAssembly is most of the page
    } catch (error) {
      throw new InputError(
        `What computes drivers could not be loaded: ${messageOf(error)}. Reload the page to try again.`,
      );
    }
    return runtime.OnnxDriver.load(bytes, entry.label);
  }
}

/** Make something of a track, and say of which one if that fails. */
function drivable<Value>({ name }: TrackEntry, make: () => Value): Value {
  try {
    return make();
  } catch (error) {
    throw new InputError(`The track "${name}" cannot be driven: ${messageOf(error)}.`);
  }
}

/** What to say of an error. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, " ").replace(/\.$/, "");
}

/** Remember what was made for a key; a failure is forgotten, so that another try can succeed. */
function remembered<Value>(map: Map<string, Promise<Value>>, key: string, make: () => Promise<Value>): Promise<Value> {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
    value.catch(() => map.delete(key));
  }
  return value;
}

async function fetchJson(address: string, what: string): Promise<unknown> {
  const response = await fetched(address, what);
  try {
    return await response.json();
  } catch (error) {
    throw new InputError(`The file ${address} (${what}) is damaged: ${messageOf(error)}.`);
  }
}

async function fetched(address: string, what: string): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(new URL(address, document.baseURI));
  } catch (error) {
    throw new InputError(`The file ${address} (${what}) cannot be fetched: ${messageOf(error)}.`);
  }
  if (!response.ok)
    throw new InputError(`The file ${address} (${what}) is missing: the server answers ${response.status}.`);
  return response;
}
