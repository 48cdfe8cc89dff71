import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConfig } from "../src/config.js";
import { RESET_INFO_KEYS, STEP_INFO_KEYS } from "../src/engine/contract.js";
import type { Start } from "../src/engine/starts.js";
import { type Game, Session } from "../src/session.js";
import type { TrackLibrary } from "../src/tracks.js";
import { makeRandom } from "./engine_helpers.js";
import { ask, game, type Message, sessionAfter } from "./helpers.js";
import { MALFORMED } from "./malformed.js";

const FULL_THROTTLE = [0, 1, 0];
const SHORT_EPISODES = { episode: { maxSteps: 9, stillnessTimeoutTicks: 4 } };

test("says what it speaks and which tracks there are", () => {
  const hello = ask(new Session(game), { type: "hello" });
  assert.deepEqual(Object.keys(hello), ["type", "protocol", "physics", "maxEnvs", "tracks"]);
  assert.equal(hello.type, "hello_result");
  assert.equal(hello.protocol, 2);
  assert.match(hello.physics, /^[0-9a-f]{64}$/);
  assert.equal(hello.maxEnvs, 256);
  assert.deepEqual(hello.tracks, game.tracks.list());
  assert.deepEqual(Object.keys(hello.tracks[0]), ["id", "name", "length", "fingerprint"]);
});

test("gives the content of a track's file", () => {
  const { type, track } = ask(new Session(game), { type: "track", trackId: "track-02" });
  assert.equal(type, "track_result");
  assert.deepEqual(track, game.tracks.file("track-02"));
  assert.deepEqual(Object.keys(track), ["id", "name", "checkpointCount", "controlPoints"]);
});

test("answers a reset and a step of version 1 with exactly its keys", () => {
  const session = new Session(game);
  const reset = ask(session, { type: "reset" });
  assert.deepEqual(Object.keys(reset), ["type", "observation", "info"]);
  assert.equal(reset.type, "reset_result");
  assert.equal(reset.observation.length, 14);
  assert.deepEqual(reset.info, { tick: 0, speed: 0, lap: 1, checkpoint: 0, stepCount: 0 });

  const step = ask(session, { type: "step", action: FULL_THROTTLE });
  assert.deepEqual(Object.keys(step), ["type", "observation", "reward", "terminated", "truncated", "info"]);
  assert.equal(step.type, "step_result");
  assert.equal(step.observation.length, 14);
  assert.equal(step.terminated, false);
  assert.equal(step.truncated, false);
  assert.deepEqual(Object.keys(step.info), [...STEP_INFO_KEYS]);
  assert.equal(step.info.stepCount, 1);
  assert.equal(step.info.wallContact, false);
});

test("answers a reset and a step of many cars with exactly their keys", () => {
  const session = new Session(game);
  const reset = ask(session, { type: "reset", numEnvs: 3 });
  assert.deepEqual(Object.keys(reset), ["type", "observations", "infos"]);
  assert.equal(reset.observations.length, 3);
  assert.deepEqual(Object.keys(reset.infos[2]), [...RESET_INFO_KEYS]);

  const step = ask(session, { type: "step", actions: [FULL_THROTTLE, FULL_THROTTLE, FULL_THROTTLE] });
  const keys = ["type", "observations", "rewards", "terminated", "truncated", "infos", "finished"];
  assert.deepEqual(Object.keys(step), keys);
  assert.deepEqual(Object.keys(step.infos), [...STEP_INFO_KEYS]);
  assert.deepEqual(step.infos.stepCount, [1, 1, 1]);
  assert.deepEqual(step.infos.wallContact, [false, false, false]);
  assert.deepEqual(step.terminated, [false, false, false]);
  assert.deepEqual(step.finished, []);
});

test("ends with a close", () => {
  assert.deepEqual(new Session(game).handle('{"type":"close"}'), { reply: '{"type":"close_result"}', close: true });
});

test("takes the game's configuration for a reset without one, and defaults for keys that are absent", () => {
  const own = new Session({ ...game, config: parseConfig({ episode: { maxSteps: 1 } }, "") });
  const step = { type: "step", action: FULL_THROTTLE };
  ask(own, { type: "reset" });
  assert.equal(ask(own, step).truncated, true);
  ask(own, { type: "reset", config: { episode: { maxSteps: 2 } } });
  assert.equal(ask(own, step).truncated, false);
  assert.equal(ask(own, step).truncated, true);
  ask(own, { type: "reset", config: {} });
  ask(own, step);
  assert.equal(ask(own, step).truncated, false);
});

test("goes on with a single car's episode that has ended", () => {
  const session = sessionAfter({ type: "reset", config: { episode: { maxSteps: 1 } } });
  const steps = [1, 2, 3].map(() => ask(session, { type: "step", action: FULL_THROTTLE }));
  assert.deepEqual(
    steps.map(({ truncated, info }) => [truncated, info.stepCount]),
    [1, 2, 3].map((count) => [true, count]),
  );
});

test("begins anywhere on an out-lap", () => {
  const { info } = ask(new Session(game), { type: "reset", start: [300, 2, 0.1, 50] });
  assert.equal(info.lap, 0);
  assert.equal(info.speed, 50);
});

test("refuses a step before the first reset", () => {
  const session = new Session(game);
  for (const request of [
    { type: "step", action: FULL_THROTTLE },
    { type: "step", actions: [FULL_THROTTLE] },
  ]) {
    assert.deepEqual(ask(session, request), {
      type: "error",
      message: "step before the first reset; send a reset first",
    });
  }
});

test("takes a start as fast as the physics allow, and none faster", () => {
  const session = new Session({ ...game, physics: { ...game.physics, maxSpeed: 70 } });
  assert.equal(ask(session, { type: "reset", start: [0, 0, 0, 70] }).info.speed, 70);
  const { message } = ask(session, { type: "reset", start: [0, 0, 0, 70.5] });
  assert.equal(message, "start[3] must be within [0, 70], got 70.5");
});

const UNFIT_FOR_ONE: readonly (readonly [object, RegExp])[] = [
  [{ type: "step", actions: [FULL_THROTTLE] }, /without numEnvs and takes action; got actions/],
  [{ type: "reset", trackId: "track-99" }, /no track "track-99"; there are: track-01/],
  [{ type: "track", trackId: "../track-01" }, /no track/],
];

const UNFIT_FOR_TWO: readonly (readonly [object, RegExp])[] = [
  [{ type: "step", action: FULL_THROTTLE }, /with numEnvs and takes actions/],
  [{ type: "step", actions: [] }, /actions must have 2 entries, one per car; got 0/],
  [{ type: "step", actions: [FULL_THROTTLE] }, /actions must have 2 entries, one per car; got 1/],
  [{ type: "step", actions: [0, 0, 0].map(() => FULL_THROTTLE) }, /actions must have 2 entries, one per car; got 3/],
  [
    {
      type: "step",
      actions: [FULL_THROTTLE, FULL_THROTTLE],
      nextStarts: [
        [0, [9, 9, 0, 9]],
        [2, null],
      ],
    },
    /nextStarts\[1\]\[0\] must be a car from 0 to 1, got 2/,
  ],
  [{ type: "reset", numEnvs: 2, trackId: "track-99" }, /no track "track-99"/],
];

const textsOf = (table: typeof UNFIT_FOR_ONE) =>
  table.map(([request, message]) => [JSON.stringify(request), message] as const);

const SETTINGS = [
  {
    name: "one car",
    reset: { type: "reset", start: [100, 0, 0, 30], config: SHORT_EPISODES },
    step: { type: "step", action: [0.3, 0.8, 0] },
    wrong: [...MALFORMED, ...textsOf(UNFIT_FOR_ONE)],
  },
  {
    name: "two cars",
    reset: { type: "reset", numEnvs: 2, starts: [null, [100, 0, 0, 30]], config: SHORT_EPISODES },
    step: {
      type: "step",
      actions: [
        [0.3, 0.8, 0],
        [-0.3, 1, 0],
      ],
    },
    wrong: [...MALFORMED, ...textsOf(UNFIT_FOR_TWO)],
  },
];

for (const { name, reset, step, wrong } of SETTINGS) {
  test(`changes nothing with a request that it refuses: ${name}`, () => {
    const disturbed = sessionAfter(reset);
    const twin = sessionAfter(reset);
    for (const [text, message] of wrong) {
      const { reply, close } = disturbed.handle(text);
      const error = JSON.parse(String(reply));
      assert.deepEqual(Object.keys(error), ["type", "message"], text);
      assert.equal(error.type, "error", text);
      assert.match(error.message, message);
      assert.equal(close, undefined);
      assert.deepEqual(ask(disturbed, step), ask(twin, step), `after ${text}`);
    }
    // As long as an episode, for a next start that a refused request may have left.
    for (let tick = 0; tick < SHORT_EPISODES.episode.maxSteps; tick++) {
      assert.deepEqual(ask(disturbed, step), ask(twin, step));
    }
  });
}

test("turns a bug into an error reply", () => {
  const broken = {
    track: () => {
      throw new TypeError("boom");
    },
  } as unknown as TrackLibrary;
  const session = new Session({ ...game, tracks: broken } satisfies Game);
  assert.deepEqual(ask(session, { type: "reset" }), { type: "error", message: "internal error: boom" });
});

test("keeps a simulation through a reset that fails unexpectedly", () => {
  const library = { ...game.tracks, track: (id: string) => game.tracks.track(id) } as unknown as TrackLibrary;
  const session = new Session({ ...game, tracks: library });
  ask(session, { type: "reset" });
  ask(session, { type: "step", action: FULL_THROTTLE });
  library.track = () => {
    throw new TypeError("boom");
  };
  ask(session, { type: "reset", numEnvs: 4 });
  assert.equal(ask(session, { type: "step", action: FULL_THROTTLE }).info.stepCount, 2);
});

test("drives many cars exactly as single ones, next episodes included", () => {
  const numEnvs = 5;
  const random = makeRandom(7);
  const start = (): Start => [random() * 4000 - 2000, random() * 20 - 10, random() - 0.5, random() * 160];
  const starts = [null, start(), start(), null, start()];
  const second = [start(), null, start(), start(), start()];
  const config = SHORT_EPISODES;

  const many = new Session(game);
  const begun = ask(many, { type: "reset", trackId: "track-02", config, numEnvs, starts, nextStarts: second });
  const next: Start[] = [...second];
  const singles = starts.map(() => new Session(game));
  const begin = (car: number, from: Start) =>
    ask(singles[car], { type: "reset", trackId: "track-02", config, start: from });
  for (const [car, from] of starts.entries()) {
    const single = begin(car, from);
    assert.deepEqual(begun.observations[car], single.observation);
    assert.deepEqual(begun.infos[car], single.info);
  }

  let episodes = 0;
  for (let tick = 0; tick < 60; tick++) {
    const actions = starts.map((_, car) => (car === 0 ? [0, 0, 1] : [random() * 2 - 1, random(), random() * 0.5]));
    const nextStarts: [number, Start][] = tick % 7 === 3 ? [[tick % numEnvs, start()]] : [];
    for (const [car, from] of nextStarts) next[car] = from;
    const reply = ask(many, { type: "step", actions, ...(nextStarts.length > 0 && { nextStarts }) });

    const finished: Message[] = [];
    for (const [car, action] of actions.entries()) {
      const single = ask(singles[car], { type: "step", action });
      assert.equal(reply.rewards[car], single.reward);
      assert.equal(reply.terminated[car], single.terminated);
      assert.equal(reply.truncated[car], single.truncated);
      for (const key of Object.keys(single.info)) assert.equal(reply.infos[key][car], single.info[key], key);
      if (!single.terminated && !single.truncated) {
        assert.deepEqual(reply.observations[car], single.observation);
        continue;
      }
      const anew = begin(car, next[car]);
      next[car] = null;
      finished.push({ car, terminalObservation: single.observation, info: anew.info });
      assert.deepEqual(reply.observations[car], anew.observation);
    }
    assert.deepEqual(reply.finished, finished);
    episodes += finished.length;
  }
  assert.ok(episodes >= 5 * (60 / 9 - 1), `${episodes} episodes`);
});

test("uses a next start once", () => {
  const config = { episode: { maxSteps: 1 } };
  const session = sessionAfter({ type: "reset", numEnvs: 1, config, nextStarts: [[500, 0, 0, 40]] });
  const step = { type: "step", actions: [FULL_THROTTLE] };
  const speeds = [step, step, { ...step, nextStarts: [[0, [0, 0, 0, 25]]] }, step].map(
    (request) => ask(session, request).finished[0].info.speed,
  );
  assert.deepEqual(speeds, [40, 0, 25, 0]);
});

test("takes actions for one car of numEnvs", () => {
  const session = sessionAfter({ type: "reset", numEnvs: 1 });
  assert.equal(ask(session, { type: "step", actions: [FULL_THROTTLE] }).rewards.length, 1);
  assert.equal(ask(session, { type: "step", action: FULL_THROTTLE }).type, "error");
});

test("forgets the next starts of the simulation before", () => {
  const config = { episode: { maxSteps: 1 } };
  const session = sessionAfter({ type: "reset", numEnvs: 1, config, nextStarts: [[500, 0, 0, 40]] });
  ask(session, { type: "reset", numEnvs: 1, config });
  assert.equal(ask(session, { type: "step", actions: [FULL_THROTTLE] }).finished[0].info.speed, 0);
});

/** The doubles of a binary step's reply, or the error that it was answered with. */
function binaryStep(session: Session, numbers: readonly number[]): Message {
  const { reply } = session.handle(new Uint8Array(Float64Array.from(numbers).buffer));
  return typeof reply === "string" ? JSON.parse(reply) : [...new Float64Array(reply.buffer)];
}

test("answers a binary step with the numbers that it would write as JSON", () => {
  const numEnvs = 3;
  const random = makeRandom(11);
  const reset = { type: "reset", numEnvs, config: SHORT_EPISODES, starts: [null, [100, 0, 0, 30], null] };
  const [binary, json] = [sessionAfter(reset), sessionAfter(reset)];
  let episodes = 0;
  for (let tick = 0; tick < 40; tick++) {
    const actions = Array.from({ length: numEnvs }, () => [random() * 2 - 1, random(), random()]);
    const start = [tick * 20, 1, 0.1, 50];
    const nextStarts: [number, Start][] =
      tick % 5 === 0 ? [[tick % numEnvs, tick % 2 === 0 ? null : (start as never)]] : [];
    const rows = nextStarts.map(([car, from]) => [car, from === null ? 0 : 1, ...(from ?? [0, 0, 0, 0])]);
    const numbers = binaryStep(binary, [...actions.flat(), ...rows.flat()]);
    const step = ask(json, { type: "step", actions, nextStarts });

    const expected = actions.flatMap((_, car) => [
      ...step.observations[car],
      step.rewards[car],
      step.terminated[car],
      step.truncated[car],
      ...STEP_INFO_KEYS.map((key) => step.infos[key][car]),
    ]);
    for (const { car, terminalObservation, info } of step.finished) {
      expected.push(car, ...terminalObservation, ...RESET_INFO_KEYS.map((key) => info[key]));
    }
    assert.deepEqual(numbers, expected.map(Number));
    episodes += step.finished.length;
  }
  assert.ok(episodes > numEnvs);
});

const MALFORMED_BINARY: readonly (readonly [string, readonly number[], RegExp])[] = [
  ["nothing", [], /a binary step of 2 cars must be 6 doubles and 6 more for each next start, got 0 bytes/],
  ["too little", [0, 1, 0], /got 24 bytes/],
  ["half a next start", [0, 1, 0, 0, 1, 0, 1, 1, 1], /got 72 bytes/],
  ["NaN", [0, 1, 0, 0, Number.NaN, 0], /actions\[1\]\[1\] must be a finite number, got NaN/],
  ["infinity", [Infinity, 1, 0, 0, 1, 0], /actions\[0\]\[0\] must be a finite number/],
  ["another car", [0, 1, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0], /nextStarts\[0\]\[0\] must be from 0 to 1/],
  ["half a car", [0, 1, 0, 0, 1, 0, 0.5, 0, 0, 0, 0, 0], /nextStarts\[0\]\[0\] must be a whole number/],
  ["neither placed nor not", [0, 1, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0], /nextStarts\[0\]\[1\] must be from 0 to 1/],
  ["too fast", [0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 500], /nextStarts\[0\]\[2\]\[3\] must be within \[0, 160\]/],
];

test("changes nothing with a binary step that it refuses", () => {
  const reset = { type: "reset", numEnvs: 2, config: SHORT_EPISODES };
  const [disturbed, twin] = [sessionAfter(reset), sessionAfter(reset)];
  for (const [name, numbers, message] of MALFORMED_BINARY) {
    assert.match(binaryStep(disturbed, numbers).message, message, name);
    assert.deepEqual(binaryStep(disturbed, [0, 1, 0, 0, 0, 0]), binaryStep(twin, [0, 1, 0, 0, 0, 0]));
  }
  assert.match(JSON.parse(String(disturbed.handle(new Uint8Array(7)).reply)).message, /got 7 bytes/);
});

test("refuses a binary step where there is no simulation with numEnvs", () => {
  for (const session of [new Session(game), sessionAfter({ type: "reset" })]) {
    assert.match(binaryStep(session, [0, 1, 0]).message, /expected a text frame, got a binary one/);
  }
});
