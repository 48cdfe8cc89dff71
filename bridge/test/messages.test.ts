import assert from "node:assert/strict";
import { test } from "node:test";
import { InputError } from "../src/checks.js";
import { DEFAULT_CONFIG, RESET_INFO_KEYS, STEP_INFO_KEYS } from "../src/engine/contract.js";
import type { Simulation } from "../src/engine/simulation.js";
import { encodeError, encodeStep, encodeSteps, MAX_ENVS, parseRequest, type Request } from "../src/messages.js";
import { PHYSICS } from "./engine_helpers.js";
import { MALFORMED } from "./malformed.js";

const AWKWARD_NUMBERS = [0.1 + 0.2, 1 / 3, 5e-324, 1.7976931348623157e308, -1e-7, 1e21, 123456789.123, 160, 1, 0];

/** Read a request with the frozen physics' limit. */
function read(text: string): Request {
  return parseRequest(text, PHYSICS.maxSpeed);
}

/** Return what the encoders read of a simulation, filled with one number. */
function simulationOf(numCars: number, number: number): Simulation {
  const doubles = () => new Float64Array(numCars).fill(number);
  const flags = () => new Uint8Array(numCars).fill(1);
  return {
    numCars,
    observations: new Float64Array(numCars * 14).fill(number),
    rewards: doubles(),
    terminated: flags(),
    truncated: new Uint8Array(numCars),
    infos: Object.fromEntries(STEP_INFO_KEYS.map((key) => [key, key === "wallContact" ? flags() : doubles()])),
  } as unknown as Simulation;
}

for (const [text, message] of MALFORMED) {
  test(`refuses ${text.slice(0, 90)}`, () => {
    assert.throws(
      () => read(text),
      (error: unknown) => {
        assert.ok(error instanceof InputError, String(error));
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /\n/);
        return true;
      },
    );
  });
}

test("reads a reset of version 1 with its defaults", () => {
  assert.deepEqual(read('{"type":"reset"}'), {
    type: "reset",
    trackId: "track-01",
    config: null,
    isMany: false,
    starts: [null],
    nextStarts: [null],
  });
});

test("fills a configuration up with the specification's defaults", () => {
  const request = read('{"type":"reset","config":{"weights":{"progress":2.5}}}');
  assert.ok(request.type === "reset");
  assert.deepEqual(request.config, { ...DEFAULT_CONFIG, weights: { ...DEFAULT_CONFIG.weights, progress: 2.5 } });
});

test("reads starts and next starts, one per car", () => {
  const request = read(
    '{"type":"reset","trackId":"track-02","numEnvs":2,"starts":[null,[-3,4.5,-0.5,160]],"nextStarts":[[1,2,3,0],null]}',
  );
  assert.deepEqual(request, {
    type: "reset",
    trackId: "track-02",
    config: null,
    isMany: true,
    starts: [null, [-3, 4.5, -0.5, 160]],
    nextStarts: [[1, 2, 3, 0], null],
  });
});

test("reads actions as they are, without clamping them", () => {
  assert.deepEqual(read('{"type":"step","actions":[[-9,0.25,7],[0,1,0]],"nextStarts":[[1,null]]}'), {
    type: "step",
    isMany: true,
    actions: new Float64Array([-9, 0.25, 7, 0, 1, 0]),
    nextStarts: [[1, null]],
  });
});

test("fits a reset and a step of the most cars with the longest numbers into one message", () => {
  const longest = -1 / 3 / 1e6;
  const start = [-1e5 / 3, longest, longest, 100 / 3];
  const starts = new Array(MAX_ENVS).fill(start);
  const reset = { type: "reset", trackId: "track-01", config: DEFAULT_CONFIG, numEnvs: MAX_ENVS, starts };
  const step = { type: "step", actions: new Array(MAX_ENVS).fill([longest, longest, longest]) };
  const nextStarts = starts.map((_, car) => [car, start]);
  for (const request of [
    { ...reset, nextStarts: starts },
    { ...step, nextStarts },
  ]) {
    const text = JSON.stringify(request);
    assert.ok(text.length <= 65_536, String(text.length));
    assert.equal(read(text).type, request.type);
  }
});

test("writes every number so that it reads back the same", () => {
  for (const number of AWKWARD_NUMBERS) {
    const single = JSON.parse(encodeStep(simulationOf(1, number)));
    const many = JSON.parse(encodeSteps(simulationOf(3, number), []));
    assert.deepEqual(single.observation, new Array(14).fill(number));
    assert.equal(single.reward, number);
    assert.equal(single.info.rawSpeed, number);
    assert.deepEqual(many.observations, new Array(3).fill(single.observation));
    assert.deepEqual(many.rewards, [number, number, number]);
    assert.deepEqual(many.infos.progress, many.rewards);
    assert.deepEqual(many.infos.wallContact, [true, true, true]);
  }
});

test("never writes a number that is not finite", () => {
  for (const number of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    assert.throws(() => encodeStep(simulationOf(1, number)), /the simulation gave/);
    assert.throws(() => encodeSteps(simulationOf(2, number), []), /the simulation gave/);
  }
});

test("writes an error that is valid UTF-8 whatever it quotes", () => {
  assert.equal(encodeError("no \ud800"), '{"type":"error","message":"no \\ud800"}');
});

test("keeps the order of the info's values, which is the order of the columns of binary rows", () => {
  const step = "progress speed wall offTrack backward stillness tick rawSpeed lap checkpoint stepCount wallContact";
  assert.deepEqual([...STEP_INFO_KEYS], [...step.split(" "), "stillnessCounter"]);
  assert.deepEqual([...RESET_INFO_KEYS], ["tick", "speed", "lap", "checkpoint", "stepCount"]);
});
