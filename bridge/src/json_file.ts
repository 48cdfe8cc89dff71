/** Reads JSON files. */

import { readFileSync, statSync } from "node:fs";
import { InputError } from "./checks.js";

/** Bytes that a JSON file may have; a track of 1,000 points has a fiftieth. */
const MAX_JSON = 8_000_000;

/**
 * Read a JSON file: a regular one, as a pipe or a device may never end.
 *
 * @param path The file.
 * @param what What it should be, for the messages ("track", "configuration").
 * @throws InputError The file is missing, unreadable, too large, or no JSON.
 */
export function readJson(path: string, what: string): unknown {
  let bytes: Buffer;
  try {
    const found = statSync(path);
    if (!found.isFile()) {
      throw new Error("expected a file, and it is a folder, a pipe or a device");
    }
    if (found.size > MAX_JSON) {
      throw new Error(`it has ${found.size} bytes; expected at most ${MAX_JSON}`);
    }
    bytes = readFileSync(path);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw new InputError(isMissing ? `${what} file not found: ${path}` : `cannot read ${what} file ${path}: ${error}`);
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    const reason = (error as Error).message.replaceAll(/\s+/g, " ");
    throw new InputError(`${what} file ${path} is not valid JSON: ${reason}`);
  }
}
