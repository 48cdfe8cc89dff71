/** Reads JSON files. */

import { readFileSync } from "node:fs";
import { InputError } from "./checks.js";

/**
 * Read a JSON file.
 *
 * @param path The file.
 * @param what What it should be, for the messages ("track", "configuration").
 * @throws InputError The file is missing, unreadable, or no JSON.
 */
export function readJson(path: string, what: string): unknown {
  let bytes: Buffer;
  try {
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
