/** Fingerprints of parsed JSON, equal in every language. */

import { createHash } from "node:crypto";

/**
 * Hash parsed JSON content; layout, order of keys, or 2 against 2.0 make no difference.
 *
 * @returns SHA-256 of the canonical text, 64 hexadecimal digits.
 */
export function fingerprintOf(value: unknown): string {
  return createHash("sha256").update(canonicalText(value), "utf8").digest("hex");
}

/** JSON without white space and with sorted keys. */
function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalText(item)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}
