/** The library of a folder's tracks. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { InputError, shown } from "./checks.js";
import { CentreLine } from "./engine/centre_line.js";
import { Track } from "./engine/track.js";
import { fingerprintOf } from "./fingerprint.js";
import { readJson } from "./json_file.js";
import type { Physics } from "./physics.js";
import { checkGateSpacing, parseTrack, type TrackFile } from "./track_file.js";

/** What a list of tracks says about each: length of a lap in units, and the fingerprint of the road. */
export interface TrackSummary {
  readonly id: string;
  readonly name: string;
  readonly length: number;
  readonly fingerprint: string;
}

/** Hash what shapes a road: gates and control points, but neither id nor name; 64 hexadecimal digits. */
export function trackFingerprint({ checkpointCount, controlPoints }: TrackFile): string {
  return fingerprintOf({ checkpointCount, controlPoints });
}

/** The tracks of a folder, which all simulations share: files read once, geometry and tables built on first use. */
export class TrackLibrary {
  private readonly files = new Map<string, TrackFile>();
  private readonly summaries: readonly TrackSummary[];
  private readonly tracks = new Map<string, Track>();

  /**
   * Read and check every track file (`*.json`) of a folder.
   *
   * @throws InputError The folder is missing or holds no track, a file is wrong, or two have the same id.
   */
  constructor(
    folder: string,
    private readonly physics: Physics,
  ) {
    const paths = new Map<string, string>();
    for (const path of trackPaths(folder)) {
      const file = parseTrack(readJson(path, "track"), path);
      const other = paths.get(file.id);
      if (other !== undefined) {
        throw new InputError(`${other} and ${path} are both the track ${shown(file.id)}; give every file its own id`);
      }
      checkGateSpacing(file, path, physics);
      paths.set(file.id, path);
      this.files.set(file.id, file);
    }
    this.summaries = this.ids().map((id) => summaryOf(this.file(id)));
  }

  /** The tracks' ids, sorted. */
  ids(): string[] {
    return [...this.files.keys()].sort();
  }

  /** What to say about every track, in order of id. */
  list(): TrackSummary[] {
    return [...this.summaries];
  }

  /** The content of a track's file; throws an InputError when there is no such track. */
  file(id: string): TrackFile {
    const file = this.files.get(id);
    if (file === undefined) throw new InputError(`no track ${shown(id)}; there are: ${this.ids().join(", ")}`);
    return file;
  }

  /** A track to drive on, the same object every time; throws an InputError when there is no such track. */
  track(id: string): Track {
    let track = this.tracks.get(id);
    if (track === undefined) {
      track = new Track(this.file(id), this.physics);
      this.tracks.set(id, track);
    }
    return track;
  }
}

function summaryOf(file: TrackFile): TrackSummary {
  const length = new CentreLine(file.controlPoints).totalLength;
  return { id: file.id, name: file.name, length, fingerprint: trackFingerprint(file) };
}

/** The paths of a folder's track files, in order of name. */
function trackPaths(folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw new InputError(
      isMissing ? `tracks folder not found: ${folder}` : `cannot read tracks folder ${folder}: ${error}`,
    );
  }
  const paths = names.filter((name) => name.endsWith(".json")).sort();
  if (paths.length === 0) throw new InputError(`no track files (*.json) in ${folder}`);
  return paths.map((name) => join(folder, name));
}
