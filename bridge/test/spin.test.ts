import assert from "node:assert/strict";
import { describe, mock, test } from "node:test";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { CALM, LONGEST_PAUSE, MOST_SAVED_MS, Poll, SHORTEST_PAUSE, Spin } from "../src/spin.js";

const LIMIT_MS = 0.2;
const QUICK_MS = 0.01;

/** The number of waits that sleep at once before the next one that polls. */
function waitsUntilPoll(spin: Spin): number {
  let waits = 0;
  while (!spin.begin()) waits++;
  return waits;
}

/** Let some polls end in the same way, and return how many waits slept before each. */
function poll(spin: Spin, times: number, found = true, tookMs = QUICK_MS): number[] {
  return Array.from({ length: times }, () => {
    const waits = waitsUntilPoll(spin);
    spin.end(found, tookMs);
    return waits;
  });
}

describe("whether a wait polls", () => {
  test("always, while requests come quickly", () => {
    assert.ok(poll(new Spin(LIMIT_MS), 3 * CALM).every((waits) => waits === 0));
  });

  for (const [what, found, tookMs] of [
    ["no request comes", false, LIMIT_MS] as const,
    ["it is interrupted", true, 4] as const,
  ]) {
    test(`ever more rarely while ${what}`, () => {
      const pauses = poll(new Spin(LIMIT_MS), 9, found, tookMs);
      assert.deepEqual(pauses.slice(0, 4), [0, SHORTEST_PAUSE, 2 * SHORTEST_PAUSE, 4 * SHORTEST_PAUSE]);
      assert.equal(pauses.at(-1), LONGEST_PAUSE);
    });
  }

  test("also after a poll in vain that others have paid for", () => {
    const spin = new Spin(LIMIT_MS);
    for (let turn = 0; turn < 50; turn++) {
      assert.deepEqual(poll(spin, 5), [0, 0, 0, 0, 0]);
      assert.deepEqual(poll(spin, 1, false, LIMIT_MS), [0]);
    }
    assert.ok(poll(spin, 100, false, LIMIT_MS).some((waits) => waits > 0));
  });

  test("no longer on a machine that becomes busy after hours", () => {
    const spin = new Spin(LIMIT_MS);
    poll(spin, 100_000);
    poll(spin, 1, true, MOST_SAVED_MS);
    spin.end(false, LIMIT_MS);
    assert.equal(waitsUntilPoll(spin), SHORTEST_PAUSE);
  });

  test("as before on a machine that has become calm", () => {
    const spin = new Spin(LIMIT_MS);
    poll(spin, 9, false, LIMIT_MS);
    poll(spin, CALM);
    spin.end(false, 2 * MOST_SAVED_MS);
    assert.equal(waitsUntilPoll(spin), SHORTEST_PAUSE);
  });

  test("never, where there is a single processor", () => {
    assert.ok(!new Spin(0).begin());
  });
});

describe("a poll", { timeout: 20_000 }, () => {
  /** Whether the event loop turns without sleeping. */
  const isTurning = () => process.getActiveResourcesInfo().includes("Immediate");

  test("keeps the event loop turning for a while only, and is not repeated at once after it was in vain", async () => {
    const polling = new Poll(new Spin(200));
    polling.begin();
    await sleep(1);
    assert.ok(isTurning());
    while (isTurning()) await sleep(5);
    for (let wait = 0; wait < SHORTEST_PAUSE; wait++) {
      polling.begin();
      assert.ok(!isTurning());
      polling.end();
    }
    polling.begin();
    assert.ok(isTurning());
    polling.end();
  });

  test("ends with the request", () => {
    const polling = new Poll(new Spin(5000));
    polling.begin();
    polling.end();
    assert.ok(!isTurning());
    polling.begin();
    assert.ok(isTurning());
    polling.end();
  });

  test("pays only where a request was waited for", async () => {
    const spin = new Spin(5000);
    const ended = mock.method(spin, "end");
    const polling = new Poll(spin);
    polling.begin();
    polling.end();
    assert.equal(ended.mock.callCount(), 0);
    polling.begin();
    for (let turns = 0; turns < 5; turns++) await turn();
    polling.end();
    assert.deepEqual(ended.mock.calls[0]?.arguments[0], true);
  });

  test("was in vain if something else has kept the processor meanwhile", () => {
    const polling = new Poll(new Spin(1));
    polling.begin();
    for (const end = performance.now() + 2; performance.now() < end; );
    polling.end();
    polling.begin();
    assert.ok(!isTurning());
  });
});
