import assert from "node:assert/strict";
import { test } from "node:test";
import { OBSERVATION_SIZE } from "../src/engine/contract.js";
import { Simulation } from "../src/engine/simulation.js";
import type { Track } from "../src/engine/track.js";
import { LIBRARY, makeRandom, ringTrack, TEST_CONFIG } from "./engine_helpers.js";

const COMPONENTS = ["progress", "speed", "wall", "offTrack", "backward", "stillness"] as const;
const track = ringTrack();

function one(onTrack: Track = track, limits: Partial<typeof TEST_CONFIG.episode> = {}): Simulation {
  return new Simulation(onTrack, { ...TEST_CONFIG, episode: { ...TEST_CONFIG.episode, ...limits } }, 1);
}

function step(simulation: Simulation, steer = 0, throttle = 0, brake = 0): void {
  const actions = Array.from({ length: simulation.numCars }, () => [steer, throttle, brake]).flat();
  simulation.step(Float64Array.from(actions));
}

function randomActions(count: number, random: () => number): Float64Array {
  return Float64Array.from({ length: 3 * count }, () => 4 * random() - 2);
}

/** Steer along the centre line at a steady speed for one tick. */
function follow(simulation: Simulation, speed = 90): void {
  const { cars } = simulation;
  const target = simulation.track.geometry.centreLine.pointAt(cars.arcLength[0] + 25);
  const wanted = Math.atan2(target.y - cars.y[0], target.x - cars.x[0]) - cars.heading[0];
  const error = Math.atan2(Math.sin(wanted), Math.cos(wanted));
  step(simulation, -2 * error, (speed - cars.speed[0]) / 10, (cars.speed[0] - speed) / 10);
}

test("a new simulation stands on the line and has observed", () => {
  const simulation = one();
  assert.deepEqual(simulation.resetInfo(0), { tick: 0, speed: 0, lap: 1, checkpoint: 0, stepCount: 0 });
  assert.ok(simulation.observations.slice(0, 9).every((share) => share > 0 && share <= 1));
  assert.deepEqual([...simulation.observations.slice(9, 12)], [0, 0, 0]);
});

test("actions are clamped", () => {
  const [wild, bounded] = [one(), one()];
  for (let tick = 0; tick < 50; tick++) {
    step(wild, 7, 3, -2);
    step(bounded, 1, 1, 0);
  }
  assert.deepEqual(wild.observations, bounded.observations);
});

test("positive steer turns right", () => {
  const simulation = one();
  const before = simulation.cars.heading[0];
  for (let tick = 0; tick < 30; tick++) step(simulation, 1, 1);
  assert.ok(simulation.cars.heading[0] < before);
});

test("observations stay in their ranges under random actions, on every track", () => {
  for (const id of LIBRARY.ids()) {
    const simulation = new Simulation(LIBRARY.track(id), TEST_CONFIG, 4);
    const random = makeRandom(5);
    for (let tick = 0; tick < 1500; tick++) {
      simulation.step(randomActions(4, random));
      for (const [i, value] of simulation.observations.entries()) {
        const isSigned = i % OBSERVATION_SIZE === 10 || i % OBSERVATION_SIZE === 11;
        assert.ok(value >= (isSigned ? -1 : 0) && value <= 1, `${id}, tick ${tick}: observation ${i} is ${value}`);
      }
    }
  }
});

test("each of many cars drives as it would alone", () => {
  const together = new Simulation(track, TEST_CONFIG, 3);
  const alone = [one(), one(), one()];
  const random = makeRandom(6);
  for (let tick = 0; tick < 300; tick++) {
    const actions = randomActions(3, random);
    together.step(actions);
    for (const [car, simulation] of alone.entries()) simulation.step(actions.slice(3 * car, 3 * car + 3));
  }
  assert.deepEqual(
    [...together.observations],
    alone.flatMap((simulation) => [...simulation.observations]),
  );
  assert.deepEqual(
    [...together.rewards],
    alone.flatMap((simulation) => [...simulation.rewards]),
  );
});

test("the same actions give the same numbers again after a reset", () => {
  const simulation = one();
  const first = one();
  for (let tick = 0; tick < 200; tick++) step(simulation, 0.7, 1);
  simulation.place(0, null);
  for (let tick = 0; tick < 100; tick++) {
    step(simulation, -0.2, 0.8);
    step(first, -0.2, 0.8);
  }
  assert.deepEqual(simulation.observations, first.observations);
  assert.deepEqual(simulation.infos, first.infos);
});

test("placing a car leaves the others as they are", () => {
  const simulation = new Simulation(track, TEST_CONFIG, 2);
  for (let tick = 0; tick < 40; tick++) step(simulation, 0, 1);
  const other = simulation.observations.slice(OBSERVATION_SIZE);
  simulation.place(0, [300, 2, 0.1, 50]);
  assert.deepEqual(simulation.observations.slice(OBSERVATION_SIZE), other);
  assert.equal(simulation.cars.tick[1], 40);
  assert.equal(simulation.resetInfo(0).speed, 50);
  assert.ok(Math.abs(simulation.cars.arcLength[0] - 300) < 0.1);
});

test("a start on the grass counts as road for the first tick", () => {
  const [grass, road] = [one(), one()];
  grass.place(0, [300, 40, 0, 50]);
  road.place(0, [300, 0, 0, 50]);
  step(grass, 0, 1);
  step(road, 0, 1);
  assert.ok(Math.abs(grass.cars.speed[0] - road.cars.speed[0]) < 1e-9);
  assert.equal(grass.cars.surface[0], 2);
  assert.equal(grass.infos.offTrack[0], TEST_CONFIG.weights.offTrackPenalty);
});

test("a car at rest terminates when its still ticks reach the limit, and goes on", () => {
  const simulation = one(track, { stillnessTimeoutTicks: 3 });
  const ends = [1, 2, 3, 4].map(() => {
    step(simulation);
    return simulation.terminated[0];
  });
  assert.deepEqual(ends, [0, 0, 1, 1]);
  assert.equal(simulation.infos.stillnessCounter[0], 4);
  assert.equal(simulation.infos.stillness[0], TEST_CONFIG.weights.stillnessPenalty);
});

test("an episode truncates at its most steps, and may terminate on the same one", () => {
  const simulation = one(track, { stillnessTimeoutTicks: 2, maxSteps: 2 });
  step(simulation);
  assert.deepEqual([simulation.terminated[0], simulation.truncated[0]], [0, 0]);
  step(simulation);
  assert.deepEqual([simulation.terminated[0], simulation.truncated[0]], [1, 1]);
});

test("the reward is the sum of its components", () => {
  const simulation = one();
  const random = makeRandom(7);
  const seen = new Set<string>();
  for (let tick = 0; tick < 3000; tick++) {
    // A minute of full throttle in each direction visits walls, grass and standstill.
    if (tick % 600 === 0) simulation.place(0, [random() * 1000, 0, tick % 1200 === 0 ? 0 : Math.PI, 20]);
    simulation.step(randomActions(1, random));
    const components = COMPONENTS.map((name) => simulation.infos[name][0]);
    const sum = components.reduce((a, b) => a + b);
    assert.ok(Math.abs(simulation.rewards[0] - sum) < 1e-15);
    for (const [i, value] of components.entries()) if (value !== 0) seen.add(COMPONENTS[i]);
  }
  assert.deepEqual([...seen].sort(), [...COMPONENTS].sort());
});

test("driving backwards along the line loses progress and counts as backward", () => {
  const simulation = one();
  simulation.place(0, [300, 0, Math.PI, 40]);
  step(simulation, 0, 1);
  assert.ok(simulation.infos.progress[0] < 0);
  assert.equal(simulation.infos.backward[0], TEST_CONFIG.weights.backwardPenalty);
});

test("a lap of progress is worth the weight of progress, and counts one lap", () => {
  const simulation = one();
  let progress = 0;
  for (let tick = 0; tick < 3000 && simulation.cars.lap[0] < 2; tick++) {
    follow(simulation);
    progress += simulation.infos.progress[0];
  }
  assert.equal(simulation.infos.lap[0], 2);
  assert.equal(simulation.infos.checkpoint[0], 0);
  assert.ok(Math.abs(progress - 1) < 0.01, `progress ${progress}`);
});

test("an out-lap ends at the line, where lap 1 begins", () => {
  const simulation = one();
  simulation.place(0, [track.geometry.totalLength - 60, 0, 0, 60]);
  assert.equal(simulation.resetInfo(0).lap, 0);
  for (let tick = 0; tick < 90; tick++) follow(simulation);
  assert.equal(simulation.infos.lap[0], 1);
});

test("a wall stops a car that hits it head-on, and turns it along itself", () => {
  const simulation = one();
  simulation.place(0, [300, 0, -Math.PI / 2, 100]);
  const heading = simulation.cars.heading[0];
  let ticks = 0;
  for (; ticks < 60 && simulation.cars.speed[0] > 50; ticks++) step(simulation);
  assert.ok(ticks < 60, "no hit");
  assert.ok(simulation.cars.speed[0] < 30);
  assert.ok(Math.abs(simulation.cars.heading[0] - heading) > 0.3);
  assert.equal(simulation.infos.wallContact[0], 1);
  assert.equal(simulation.infos.wall[0], TEST_CONFIG.weights.wallPenalty);
  const outside = Math.hypot(simulation.cars.x[0], simulation.cars.y[0]);
  assert.ok(outside < 250 - 1, `${outside} units from the ring's centre`);
});

test("no speed carries a car through a wall", () => {
  const simulation = one();
  for (let heading = -3; heading <= 3; heading += 0.25) {
    simulation.place(0, [300, 30, heading, 160]);
    for (let tick = 0; tick < 200; tick++) step(simulation, 0, 1);
    const radius = Math.hypot(simulation.cars.x[0], simulation.cars.y[0]);
    assert.ok(radius > 148 && radius < 251, `heading ${heading}: ${radius} units from the ring's centre`);
  }
});

test("a car far outside the walls is simulated all the same", () => {
  const simulation = one();
  simulation.place(0, [0, -1e5, 0, 10]);
  step(simulation, 0, 1);
  assert.ok(simulation.observations.every(Number.isFinite));
  assert.equal(simulation.cars.surface[0], 1);
  assert.equal(simulation.infos.wallContact[0], 0);
});
