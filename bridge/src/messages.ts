/** The messages of PROTOCOL.md: requests from text, replies to text. Knows no socket and changes no simulation. */

import { Checker, InputError, shown } from "./checks.js";
import { parseConfig } from "./config.js";
import {
  ACTION,
  ACTION_SIZE,
  type AiConfig,
  OBSERVATION_SIZE,
  PLACEMENT,
  type Placement,
  RESET_INFO_KEYS,
  type ResetInfo,
  STEP_INFO,
  STEP_INFO_KEYS,
} from "./engine/contract.js";
import type { Simulation } from "./engine/simulation.js";
import type { Start } from "./engine/starts.js";
import type { TrackFile } from "./track_file.js";
import type { TrackSummary } from "./tracks.js";

/** The highest version of the protocol spoken here. */
export const PROTOCOL_VERSION = 2;

/** Most cars on one connection: a reset with two full lists of starts still fits into one message. */
export const MAX_ENVS = 256;

/** The track of a reset that names none. */
export const DEFAULT_TRACK_ID = "track-01";

// Doubles in the rows of binary messages.
const STEP_COLUMNS = OBSERVATION_SIZE + 3 + STEP_INFO_KEYS.length; // observation, reward, terminated, truncated, info
const FINISHED_COLUMNS = 1 + OBSERVATION_SIZE + RESET_INFO_KEYS.length; // car, terminal observation, info of the reset
const NEXT_START_COLUMNS = 2 + PLACEMENT.length; // car, whether it is placed, where

// Lists as an error names them.
const ACTION_FORM = formOf(ACTION);
const PLACEMENT_FORM = formOf(PLACEMENT);

/** Begin an episode for every car of a simulation, which may be a new one. */
export interface ResetRequest {
  readonly type: "reset";
  readonly trackId: string;
  /** null is the game's own. */
  readonly config: AiConfig | null;
  /** Whether it came with `numEnvs`, so that episodes follow each other by themselves. */
  readonly isMany: boolean;
  /** One per car. */
  readonly starts: readonly Start[];
  /** One per car, for the episode after. */
  readonly nextStarts: readonly Start[];
}

/** Advance every car by one tick. */
export interface StepRequest {
  readonly type: "step";
  /** Whether it came as `actions`. */
  readonly isMany: boolean;
  /** The numbers of `ACTION`, car by car; finite. */
  readonly actions: Float64Array;
  /** Cars, any number within [0, MAX_ENVS), and their starts. */
  readonly nextStarts: readonly (readonly [car: number, start: Start])[];
}

/** A request whose every value has been checked as far as that goes without knowing the simulation. */
export type Request =
  | { readonly type: "hello" }
  | { readonly type: "track"; readonly trackId: string }
  | ResetRequest
  | StepRequest
  | { readonly type: "close" };

/** A car whose episode ended in a step. */
export interface Finished {
  readonly car: number;
  /** The last observation of the old episode. */
  readonly terminalObservation: readonly number[];
  /** Of the new episode. */
  readonly info: ResetInfo;
}

const PARSERS: Record<string, (document: object, maxSpeed: number) => Request> = {
  hello: parseHello,
  track: parseTrack,
  reset: parseReset,
  step: parseStep,
  close: parseClose,
};

const check = new Checker("");

/**
 * Return the request that a text holds.
 *
 * @param maxSpeed The highest speed of a start, in units/s.
 * @throws InputError Something is wrong; the message names its place.
 */
export function parseRequest(text: string, maxSpeed: number): Request {
  const document = parseJson(text);
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw check.fail(`a request must be an object, got ${shown(document)}`);
  }
  const types = Object.keys(PARSERS);
  if (!("type" in document)) throw check.fail(`a request needs a type, one of ${types.join(", ")}`);
  const { type } = document;
  if (typeof type !== "string" || !Object.hasOwn(PARSERS, type)) {
    throw check.fail(`type must be one of ${types.join(", ")}; got ${shown(type)}`);
  }
  return PARSERS[type](document, maxSpeed);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InputError(`a request must be JSON, got ${shown(text)}`);
  }
}

function parseHello(document: object): Request {
  check.object(document, "hello", ["type"]);
  return { type: "hello" };
}

function parseClose(document: object): Request {
  check.object(document, "close", ["type"]);
  return { type: "close" };
}

function parseTrack(document: object): Request {
  const { trackId } = check.object(document, "track", ["type", "trackId"], ["trackId"]);
  return { type: "track", trackId: check.text(trackId, "trackId") };
}

function parseReset(document: object, maxSpeed: number): ResetRequest {
  const isMany = "numEnvs" in document;
  const startKeys = isMany ? ["numEnvs", "starts", "nextStarts"] : ["start"];
  const keys = ["type", "trackId", "config", ...startKeys];
  const reset = check.object(document, isMany ? "a reset with numEnvs" : "a reset without numEnvs", keys);
  const numCars = isMany ? check.integer(reset.numEnvs, "numEnvs", 1, MAX_ENVS) : 1;
  return {
    type: "reset",
    trackId: reset.trackId === undefined ? DEFAULT_TRACK_ID : check.text(reset.trackId, "trackId"),
    config: reset.config === undefined ? null : parseConfig(reset.config, "config"),
    isMany,
    starts: isMany
      ? parseStarts(reset.starts, "starts", numCars, maxSpeed)
      : [parseStart(reset.start ?? null, "start", maxSpeed)],
    nextStarts: parseStarts(reset.nextStarts, "nextStarts", numCars, maxSpeed),
  };
}

function parseStep(document: object, maxSpeed: number): StepRequest {
  const isMany = "actions" in document;
  const keys = isMany ? ["actions", "nextStarts"] : ["action"];
  const step = check.object(document, isMany ? "a step with actions" : "a step", ["type", ...keys], [keys[0]]);
  if (!isMany) {
    const action = new Float64Array(ACTION_SIZE);
    setAction(action, 0, step.action, () => "action");
    return { type: "step", isMany, actions: action, nextStarts: [] };
  }
  const list = check.list(step.actions, "actions");
  const actions = new Float64Array(list.length * ACTION_SIZE);
  for (let car = 0; car < list.length; car++) setAction(actions, car, list[car], () => `actions[${car}]`);
  return { type: "step", isMany, actions, nextStarts: parseNextStarts(step.nextStarts, maxSpeed) };
}

/** Write one car's action; its place is worded only for an error, as this runs for every car of every step. */
function setAction(actions: Float64Array, car: number, value: unknown, place: () => string): void {
  if (!Array.isArray(value) || value.length !== ACTION_SIZE) {
    throw check.fail(`${place()} must be ${ACTION_FORM}, got ${shown(value)}`);
  }
  for (let item = 0; item < ACTION_SIZE; item++) {
    const number = value[item];
    if (!Number.isFinite(number)) throw check.fail(`${place()}[${item}] must be a finite number, got ${shown(number)}`);
    actions[car * ACTION_SIZE + item] = number;
  }
}

/** Return the step that a binary message holds, for a simulation of `numCars`; otherwise as `parseRequest`. */
export function parseBinaryStep(data: Uint8Array, numCars: number, maxSpeed: number): StepRequest {
  const rows = numCars * ACTION_SIZE;
  const count = data.length / Float64Array.BYTES_PER_ELEMENT;
  const numStarts = (count - rows) / NEXT_START_COLUMNS;
  if (!Number.isInteger(numStarts) || numStarts < 0) {
    throw check.fail(
      `a binary step of ${numCars} cars must be ${rows} doubles and ${NEXT_START_COLUMNS} more for each next start, ` +
        `got ${data.length} bytes`,
    );
  }
  const numbers = new Float64Array(new Uint8Array(data).buffer); // a copy, because doubles must lie at multiples of 8
  const actions = numbers.subarray(0, rows);
  for (let item = 0; item < rows; item++) {
    if (!Number.isFinite(actions[item])) {
      const place = `actions[${Math.floor(item / ACTION_SIZE)}][${item % ACTION_SIZE}]`;
      throw check.fail(`${place} must be a finite number, got ${actions[item]}`);
    }
  }
  const nextStarts = Array.from({ length: numStarts }, (_, index): [number, Start] => {
    const [car, isPlaced, ...start] = numbers
      .subarray(rows + index * NEXT_START_COLUMNS)
      .subarray(0, NEXT_START_COLUMNS);
    const key = `nextStarts[${index}]`;
    check.integer(isPlaced, `${key}[1]`, 0, 1);
    const placed = parseStart(isPlaced === 1 ? start : null, `${key}[2]`, maxSpeed);
    return [check.integer(car, `${key}[0]`, 0, numCars - 1), placed];
  });
  return { type: "step", isMany: true, actions, nextStarts };
}

function parseStarts(value: unknown, key: string, numCars: number, maxSpeed: number): Start[] {
  if (value === undefined) return new Array<Start>(numCars).fill(null);
  return check.list(value, key, numCars).map((start, car) => parseStart(start, `${key}[${car}]`, maxSpeed));
}

function parseNextStarts(value: unknown, maxSpeed: number): [number, Start][] {
  if (value === undefined) return [];
  return check.list(value, "nextStarts").map((entry, index) => {
    const key = `nextStarts[${index}]`;
    if (!Array.isArray(entry) || entry.length !== 2) {
      throw check.fail(`${key} must be [car, start], got ${shown(entry)}`);
    }
    return [check.integer(entry[0], `${key}[0]`, 0, MAX_ENVS - 1), parseStart(entry[1], `${key}[1]`, maxSpeed)];
  });
}

function parseStart(value: unknown, key: string, maxSpeed: number): Start {
  if (value === null) return null;
  if (!Array.isArray(value) || value.length !== PLACEMENT.length) {
    throw check.fail(`${key} must be null or ${PLACEMENT_FORM}, got ${shown(value)}`);
  }
  const numbers: readonly number[] = PLACEMENT.map(({ low, high }, index) =>
    check.number(value[index], `${key}[${index}]`, low, high ?? maxSpeed),
  );
  return numbers as Placement;
}

/** Names in brackets, in the spelling of the wire protocol. */
function formOf(values: readonly { readonly name: string }[]): string {
  const names = values.map(({ name }) => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()));
  return `[${names.join(", ")}]`;
}

/** The reply to what cannot be done; the message is one line for people. */
export function encodeError(message: string): string {
  return JSON.stringify({ type: "error", message });
}

/** The reply to a close. */
export function encodeClose(): string {
  return JSON.stringify({ type: "close_result" });
}

/** The reply to a hello. */
export function encodeHello(physics: string, tracks: readonly TrackSummary[]): string {
  return JSON.stringify({ type: "hello_result", protocol: PROTOCOL_VERSION, physics, maxEnvs: MAX_ENVS, tracks });
}

/** The reply to a request for a track. */
export function encodeTrack(track: TrackFile): string {
  return JSON.stringify({ type: "track_result", track });
}

/** The reply to a reset without `numEnvs`. */
export function encodeReset(simulation: Simulation): string {
  return JSON.stringify({
    type: "reset_result",
    observation: observationOf(simulation, 0),
    info: simulation.resetInfo(0),
  });
}

/** The reply to a reset with `numEnvs`. */
export function encodeResets(simulation: Simulation): string {
  const observations = observationsOf(simulation);
  const infos = observations.map((_, car) => simulation.resetInfo(car));
  return JSON.stringify({ type: "reset_result", observations, infos });
}

/** The reply to a step with `action`. */
export function encodeStep(simulation: Simulation): string {
  const info: Record<string, number | boolean> = {};
  for (const { name, type } of STEP_INFO) {
    const value = simulation.infos[name][0];
    info[name] = type === "boolean" ? value !== 0 : finite(value);
  }
  return JSON.stringify({
    type: "step_result",
    observation: observationOf(simulation, 0),
    reward: finite(simulation.rewards[0]),
    terminated: simulation.terminated[0] !== 0,
    truncated: simulation.truncated[0] !== 0,
    info,
  });
}

/** The reply to a step with `actions`; the finished cars have begun their next episodes already. */
export function encodeSteps(simulation: Simulation, finished: readonly Finished[]): string {
  const { infos, rewards, terminated, truncated } = simulation;
  const columns = STEP_INFO.map(({ name, type }) => [name, (type === "boolean" ? flags : list)(infos[name])]);
  return JSON.stringify({
    type: "step_result",
    observations: observationsOf(simulation),
    rewards: list(rewards),
    terminated: flags(terminated),
    truncated: flags(truncated),
    infos: Object.fromEntries(columns),
    finished,
  });
}

/** The reply to a binary step, as doubles: a row per car, then a row per finished car. */
export function encodeBinarySteps(simulation: Simulation, finished: readonly Finished[]): Uint8Array {
  const { infos, numCars, observations, rewards, terminated, truncated } = simulation;
  const numbers = new Float64Array(numCars * STEP_COLUMNS + finished.length * FINISHED_COLUMNS);
  for (let car = 0; car < numCars; car++) {
    for (let item = 0; item < OBSERVATION_SIZE; item++) {
      numbers[car * STEP_COLUMNS + item] = observations[car * OBSERVATION_SIZE + item];
    }
  }
  let column = OBSERVATION_SIZE;
  for (const values of [rewards, terminated, truncated, ...STEP_INFO_KEYS.map((key) => infos[key])]) {
    for (let car = 0; car < numCars; car++) numbers[car * STEP_COLUMNS + column] = values[car];
    column += 1;
  }
  let row = numCars * STEP_COLUMNS;
  for (const { car, terminalObservation, info } of finished) {
    numbers.set([car, ...terminalObservation, ...RESET_INFO_KEYS.map((key) => info[key])], row);
    row += FINISHED_COLUMNS;
  }
  for (let index = 0; index < numbers.length; index++) finite(numbers[index]);
  return new Uint8Array(numbers.buffer);
}

/** Return a copy of one car's observation. */
export function observationOf({ observations }: Simulation, car: number): number[] {
  const first = car * OBSERVATION_SIZE;
  const observation: number[] = [];
  for (let item = 0; item < OBSERVATION_SIZE; item++) observation.push(finite(observations[first + item]));
  return observation;
}

function observationsOf(simulation: Simulation): number[][] {
  const observations: number[][] = [];
  for (let car = 0; car < simulation.numCars; car++) observations.push(observationOf(simulation, car));
  return observations;
}

function list(values: ArrayLike<number>): number[] {
  return Array.from(values, finite);
}

function flags(values: ArrayLike<number>): boolean[] {
  return Array.from(values, (value) => value !== 0);
}

/** Refuse what the protocol does not have, and JSON would turn into null. */
function finite(value: number): number {
  if (!Number.isFinite(value)) throw new Error(`the simulation gave ${value}`);
  return value;
}
