/**
 * The game's contract: names, order and bounds of what goes in and comes out, and the defaults of what can be set.
 *
 * It is the ground floor: other modules take the names from here, and it imports nothing. `tests/contract.json` holds
 * this module and the toolkit's to the same content.
 */

/** Ticks of the game in one second. */
export const TICKS_PER_SECOND = 60;

/** Seconds from one tick to the next. */
export const TICK_SECONDS = 1 / TICKS_PER_SECOND;

/** A number's name and range. */
interface Bounded {
  readonly name: string;
  readonly low: number;
  /** null is the top speed of the physics. */
  readonly high: number | null;
}

/** What an info's value is; an integer is a float without a fraction. */
interface Field {
  readonly name: string;
  readonly type: "float" | "integer" | "boolean";
}

/** The numbers of an action, clamped to their ranges. */
export const ACTION = [
  { name: "steer", low: -1, high: 1 }, // positive turns right
  { name: "throttle", low: 0, high: 1 },
  { name: "brake", low: 0, high: 1 },
] as const satisfies readonly Bounded[];

/** How many numbers an action has. */
export const ACTION_SIZE = ACTION.length;

/** Where in an action a number stands, by name. */
export const ACTION_INDEX = indicesOf(ACTION);

/** An observation's rays, from right to left. */
const RAYS = ["ray_0", "ray_1", "ray_2", "ray_3", "ray_4", "ray_5", "ray_6", "ray_7", "ray_8"] as const;

/** How many rays an observation has; they come first. */
export const RAY_COUNT = RAYS.length;

/** The numbers of an observation; the physics say what 1 stands for. */
export const OBSERVATION = [
  ...RAYS.map((name) => ({ name, low: 0, high: 1 }) as const), // distance to the nearest wall
  { name: "speed", low: 0, high: 1 },
  { name: "yaw_rate", low: -1, high: 1 },
  { name: "steer", low: -1, high: 1 }, // as the car has it, smoothed
  { name: "arc_length", low: 0, high: 1 }, // share of the lap
  { name: "centre_distance", low: 0, high: 1 }, // to the centre line
] as const satisfies readonly Bounded[];

/** How many numbers an observation has. */
export const OBSERVATION_SIZE = OBSERVATION.length;

/** Where in an observation a number stands, by name. */
export const OBSERVATION_INDEX = indicesOf(OBSERVATION);

/** The terms that a reward is the sum of. */
export const COMPONENTS = ["progress", "speed", "wall", "offTrack", "backward", "stillness"] as const;

/** The info of a step. */
export const STEP_INFO = [
  ...COMPONENTS.map((name) => ({ name, type: "float" }) as const),
  { name: "tick", type: "integer" }, // of the episode, from 1
  { name: "rawSpeed", type: "float" }, // units/s; `speed` is the reward's component
  { name: "lap", type: "integer" },
  { name: "checkpoint", type: "integer" }, // the last gate
  { name: "stepCount", type: "integer" },
  { name: "wallContact", type: "boolean" },
  { name: "stillnessCounter", type: "integer" }, // ticks in a row
] as const satisfies readonly Field[];

/** The keys of a step's info in the order of the wire protocol. */
export const STEP_INFO_KEYS = STEP_INFO.map(({ name }) => name);

/** The info of a reset. */
export const RESET_INFO = [
  { name: "tick", type: "integer" },
  { name: "speed", type: "float" }, // units/s
  { name: "lap", type: "integer" },
  { name: "checkpoint", type: "integer" }, // the last gate
  { name: "stepCount", type: "integer" },
] as const satisfies readonly Field[];

/** The keys of a reset's info in the order of the wire protocol. */
export const RESET_INFO_KEYS = RESET_INFO.map(({ name }) => name);

/** The values of a reset's info. */
export type ResetInfo = { readonly [Name in (typeof RESET_INFO_KEYS)[number]]: number };

/** The numbers of a start that is not the standing one. */
export const PLACEMENT = [
  { name: "arc_length", low: -1e6, high: 1e6 }, // units along the centre line; beyond, wrapping loses digits
  { name: "lateral", low: -1000, high: 1000 }, // units to the left of the centre line
  { name: "heading", low: -1e6, high: 1e6 }, // radians away from the centre line's direction; beyond, as above
  { name: "speed", low: 0, high: null }, // units/s along the heading
] as const satisfies readonly Bounded[];

/** A start's numbers in the order of `PLACEMENT`. */
export type Placement = NumberEach<typeof PLACEMENT>;

/** What can be set, in the form of `ai-config.json`, with what a key that is absent stands for. */
const DEFAULTS = {
  /** Weights of the reward's components; penalties are negative. */
  weights: {
    /** for one whole lap of progress along the centre line */
    progress: 1.0,
    /** per tick at top speed, in proportion to speed */
    speedBonus: 0.0,
    /** per tick in contact with a wall */
    wallPenalty: -0.002,
    /** per tick off the road */
    offTrackPenalty: -0.001,
    /** per tick of negative progress */
    backwardPenalty: 0.0,
    /** per tick below the threshold */
    stillnessPenalty: -0.001,
    /** units/s below which a car counts as still */
    stillnessSpeedThreshold: 2.0,
  },
  /** When an episode ends; all at least 1. */
  episode: {
    /** truncated at this many steps */
    maxSteps: 3000,
    /** terminated after this many still ticks in a row */
    stillnessTimeoutTicks: 180,
  },
};

/** The content of `ai-config.json`: reward weights and episode limits. */
export type AiConfig = {
  readonly [Section in keyof typeof DEFAULTS]: Readonly<(typeof DEFAULTS)[Section]>;
};

/** What a key that is absent stands for. */
export const DEFAULT_CONFIG: AiConfig = DEFAULTS;

/** A tuple with a number for each item of another. */
type NumberEach<Items extends readonly unknown[]> = { readonly [Index in keyof Items]: number };

function indicesOf<Name extends string>(values: readonly { readonly name: Name }[]): Readonly<Record<Name, number>> {
  return Object.fromEntries(values.map(({ name }, index) => [name, index])) as Record<Name, number>;
}
