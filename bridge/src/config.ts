/** Reward weights and episode limits: the form of `ai-config.json`. */

import { Checker } from "./checks.js";
import { readJson } from "./json_file.js";

const MAX_WEIGHT = 1e6; // so that no reward leaves the range of floating-point numbers

/** Weights of the reward's components; penalties are negative. */
export interface RewardWeights {
  /** for one whole lap of progress along the centre line */
  readonly progress: number;
  /** per tick at top speed, in proportion to speed */
  readonly speedBonus: number;
  /** per tick in contact with a wall */
  readonly wallPenalty: number;
  /** per tick off the road */
  readonly offTrackPenalty: number;
  /** per tick of negative progress */
  readonly backwardPenalty: number;
  /** per tick below the threshold */
  readonly stillnessPenalty: number;
  /** units/s below which a car counts as still */
  readonly stillnessSpeedThreshold: number;
}

/** When an episode ends; both at least 1. */
export interface EpisodeLimits {
  /** truncated at this many steps */
  readonly maxSteps: number;
  /** terminated after this many still ticks in a row */
  readonly stillnessTimeoutTicks: number;
}

/** The content of `ai-config.json`. */
export interface AiConfig {
  readonly weights: RewardWeights;
  readonly episode: EpisodeLimits;
}

/** What a key that is absent stands for. */
export const DEFAULT_CONFIG: AiConfig = {
  weights: {
    progress: 1.0,
    speedBonus: 0.0,
    wallPenalty: -0.002,
    offTrackPenalty: -0.001,
    backwardPenalty: 0.0,
    stillnessPenalty: -0.001,
    stillnessSpeedThreshold: 2.0,
  },
  episode: { maxSteps: 3000, stillnessTimeoutTicks: 180 },
};

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
