/** One connection's conversation: what each request does to its simulation and what it is answered. */

import { InputError } from "./checks.js";
import { ACTION_SIZE, type AiConfig } from "./engine/contract.js";
import { Simulation } from "./engine/simulation.js";
import type { Start } from "./engine/starts.js";
import {
  encodeBinarySteps,
  encodeClose,
  encodeError,
  encodeHello,
  encodeReset,
  encodeResets,
  encodeStep,
  encodeSteps,
  encodeTrack,
  type Finished,
  observationOf,
  parseBinaryStep,
  parseRequest,
  type Request,
  type ResetRequest,
  type StepRequest,
} from "./messages.js";
import type { Physics } from "./physics.js";
import type { TrackLibrary } from "./tracks.js";

/** What all connections share; none of it changes. */
export interface Game {
  readonly physics: Physics;
  readonly tracks: TrackLibrary;
  /** Reward weights and episode limits of a reset that brings none. */
  readonly config: AiConfig;
}

/** A reply, text or binary, and whether the connection ends with it. */
export interface Answer {
  readonly reply: string | Uint8Array;
  readonly close?: boolean;
}

interface Running {
  readonly simulation: Simulation;
  /** Whether it has `numEnvs`: takes `actions`, and begins the next episode by itself. */
  readonly isMany: boolean;
  /** Each car's start after the episode that it is in. */
  readonly nextStarts: Start[];
}

/** Answers the requests of one connection, one after the other. */
export class Session {
  private running: Running | null = null;

  constructor(private readonly game: Game) {}

  /** Answer a request; one that is refused has changed nothing. Never throws. */
  handle(message: string | Uint8Array): Answer {
    try {
      if (typeof message !== "string") return { reply: this.binaryStep(message) };
      return this.answer(parseRequest(message, this.game.physics.maxSpeed));
    } catch (error) {
      if (error instanceof InputError) return { reply: encodeError(error.message) };
      console.error("internal error:", error);
      return { reply: encodeError(`internal error: ${error instanceof Error ? error.message : error}`) };
    }
  }

  private answer(request: Request): Answer {
    const { physics, tracks } = this.game;
    switch (request.type) {
      case "hello":
        return { reply: encodeHello(physics.fingerprint, tracks.list()) };
      case "track":
        return { reply: encodeTrack(tracks.file(request.trackId)) };
      case "reset":
        return { reply: this.reset(request) };
      case "step":
        return { reply: this.step(request) };
      case "close":
        return { reply: encodeClose(), close: true };
    }
  }

  private reset(request: ResetRequest): string {
    const { isMany, starts } = request;
    const track = this.game.tracks.track(request.trackId);
    const simulation = new Simulation(track, request.config ?? this.game.config, starts.length);
    // A new simulation has its cars at the standing start already.
    for (const [car, start] of starts.entries()) if (start !== null) simulation.place(car, start);
    const reply = isMany ? encodeResets(simulation) : encodeReset(simulation);
    this.running = { simulation, isMany, nextStarts: [...request.nextStarts] };
    return reply;
  }

  private step(request: StepRequest): string {
    const running = this.checkFits(request);
    advance(running, request);
    if (!running.isMany) return encodeStep(running.simulation);
    return encodeSteps(running.simulation, beginNextEpisodes(running));
  }

  private binaryStep(message: Uint8Array): Uint8Array {
    const { running } = this;
    if (!running?.isMany) {
      throw new InputError("expected a text frame, got a binary one, which steps a simulation with numEnvs");
    }
    advance(running, parseBinaryStep(message, running.simulation.numCars, this.game.physics.maxSpeed));
    return encodeBinarySteps(running.simulation, beginNextEpisodes(running));
  }

  /** Return what is running if a step can be made on it. */
  private checkFits(request: StepRequest): Running {
    const { running } = this;
    if (running === null) throw new InputError("step before the first reset; send a reset first");
    if (request.isMany !== running.isMany) {
      throw new InputError(
        running.isMany
          ? "the simulation was reset with numEnvs and takes actions, one per car; got action"
          : "the simulation was reset without numEnvs and takes action; got actions",
      );
    }
    const { numCars } = running.simulation;
    const given = request.actions.length / ACTION_SIZE;
    if (given !== numCars) throw new InputError(`actions must have ${numCars} entries, one per car; got ${given}`);
    for (const [index, [car]] of request.nextStarts.entries()) {
      if (car >= numCars) {
        throw new InputError(`nextStarts[${index}][0] must be a car from 0 to ${numCars - 1}, got ${car}`);
      }
    }
    return running;
  }
}

/** Make a step that fits. */
function advance({ simulation, nextStarts }: Running, request: StepRequest): void {
  for (const [car, start] of request.nextStarts) nextStarts[car] = start;
  simulation.step(request.actions);
}

/** Put the cars whose episode has ended at their next start. */
function beginNextEpisodes({ simulation, nextStarts }: Running): Finished[] {
  const finished: Finished[] = [];
  for (let car = 0; car < simulation.numCars; car++) {
    if (simulation.terminated[car] === 0 && simulation.truncated[car] === 0) continue;
    const terminalObservation = observationOf(simulation, car);
    simulation.place(car, nextStarts[car]);
    nextStarts[car] = null;
    finished.push({ car, terminalObservation, info: simulation.resetInfo(car) });
  }
  return finished;
}
