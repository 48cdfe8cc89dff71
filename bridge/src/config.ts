/** Checks reward weights and episode limits that came from outside: the form of `ai-config.json`. */

import { Checker } from "./checks.js";
import { type AiConfig, DEFAULT_CONFIG } from "./engine/contract.js";
import { readJson } from "./json_file.js";

const MAX_WEIGHT = 1e6; // so that no reward leaves the range of floating-point numbers

/**
 * Check a parsed configuration; keys that are absent keep their default.
 *
 * @param document The parsed JSON document.
 * @param where Its name in error messages, a path for example.
 * @throws InputError An unknown key, a wrong type, a number that is not finite or too large, or a limit below 1.
 */
export function parseConfig(document: unknown, where: string): AiConfig {
  const check = new Checker(where);
  const content = check.object(document, "the configuration", Object.keys(DEFAULT_CONFIG));
  return {
    weights: section(check, content, "weights", (value, key) => check.number(value, key, -MAX_WEIGHT, MAX_WEIGHT)),
    episode: section(check, content, "episode", (value, key) => check.integer(value, key, 1)),
  };
}

/** Load a configuration file; throws an InputError when it is missing, no JSON, or wrong. */
export function loadConfig(path: string): AiConfig {
  return parseConfig(readJson(path, "configuration"), path);
}

function section<Name extends keyof AiConfig>(
  check: Checker,
  content: Record<string, unknown>,
  name: Name,
  checked: (value: unknown, key: string) => number,
): AiConfig[Name] {
  const defaults = DEFAULT_CONFIG[name];
  const given = Object.hasOwn(content, name) ? check.object(content[name], name, Object.keys(defaults)) : {};
  const numbers = Object.entries(given).map(([key, value]) => [key, checked(value, `${name}.${key}`)] as const);
  return { ...defaults, ...Object.fromEntries(numbers) };
}
