/** The file of the frozen physics: its numbers with its fingerprint. */

import { fingerprintOf } from "./fingerprint.js";
import { readJson } from "./json_file.js";
import { type Physics, parsePhysicsNumbers } from "./physics.js";

/**
 * Check parsed physics.
 *
 * @param document The parsed JSON document.
 * @param where Its name in error messages, a path for example.
 * @throws InputError A key is absent or unknown, or a number is not finite or not above 0.
 */
export function parsePhysics(document: unknown, where: string): Physics {
  return { ...parsePhysicsNumbers(document, where), fingerprint: fingerprintOf(document) };
}

/** Load a physics file; throws an InputError when it is missing, no JSON, or wrong. */
export function loadPhysics(path: string): Physics {
  return parsePhysics(readJson(path, "physics"), path);
}
