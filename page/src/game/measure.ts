/** Drives laps without a picture, as fast as the machine can. */

import { ACTION_SIZE } from "../../../bridge/src/engine/contract.js";
import type { Track } from "../../../bridge/src/engine/track.js";
import type { Controller } from "./controller.js";
import type { Lap } from "./laps.js";
import { World } from "./world.js";

const MAX_TICKS = 36_000; // ten minutes, after which a driver counts as lost

/** Drive laps from a standing start; fewer come back where the driver gets no further. */
export async function measureLaps(track: Track, controller: Controller, laps: number): Promise<readonly Lap[]> {
  const world = new World(track, 1);
  const action = new Float64Array(ACTION_SIZE);
  const { simulation } = world;
  controller.begin();
  while (world.timers[0].laps.length < laps && world.tick < MAX_TICKS && simulation.terminated[0] === 0) {
    await controller.act({ observation: world.observation(0), speed: simulation.cars.speed[0] }, action);
    world.step(action);
  }
  return world.timers[0].laps;
}
