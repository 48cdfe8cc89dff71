import { beforeEach, describe, expect, it } from "vitest";
import type { Controller } from "../../src/game/controller.js";
import { COUNTDOWN, type Entrant, Session } from "../../src/game/session.js";
import { parseRecording } from "../../src/storage/recording_file.js";
import { LAP, LOADED, PAGE } from "../loaded.js";

const { actions } = parseRecording(LAP, PAGE).recording.drive;
const TICKS = actions.length / 3;

/** Repeats a recorded lap, so many ticks late. */
class Repeated implements Controller {
  private tick = 0;

  constructor(private readonly late = 0) {}

  act(_senses: unknown, action: Float64Array): void {
    const first = (this.tick - this.late) * 3;
    action.set(first < 0 || first >= actions.length ? [0, 0, 0] : actions.subarray(first, first + 3));
    this.tick += 1;
  }

  begin(): void {
    this.tick = 0;
  }
}

const entrant = (label: string, late: number, isPerson = false): Entrant => ({
  label,
  controller: new Repeated(late),
  isPerson,
});

async function run(session: Session, ticks: number): Promise<void> {
  for (let tick = 0; tick < ticks; tick++) await session.tick();
}

describe("a race", () => {
  let session: Session;

  beforeEach(() => {
    session = new Session(LOADED, [entrant("you", 6, true), entrant("driver", 0)], { hasCountdown: true, laps: 1 });
  });

  it("keeps the cars at the line until the countdown is over", async () => {
    await run(session, COUNTDOWN);
    expect(session.world.tick).toBe(0);
    await run(session, 1);
    expect(session.world.tick).toBe(1);
  });

  it("knows who leads, and by how many ticks", async () => {
    await run(session, COUNTDOWN + 200);
    const [first, second] = session.standings();
    expect([first.car, second.car]).toEqual([1, 0]);
    expect(second.gap).toBe(6);
    expect(session.gap(0)).toEqual({ ticks: 6, to: 1 });
    expect(session.gap(1)).toEqual({ ticks: -6, to: 0 });
  });

  it("knows no gap before the start, and that of the times after the finish", async () => {
    expect(session.gap(0)).toBeNull();
    await run(session, COUNTDOWN + TICKS + 6 + 60);
    expect([session.gap(0)?.ticks, session.gap(1)?.ticks]).toEqual([6, -6]);
  });

  it("ends with the order and the times of all laps", async () => {
    await run(session, COUNTDOWN + TICKS + 6);
    expect(session.finishes).toEqual([TICKS + 6, TICKS]);
    expect(session.standings().map(({ car, gap }) => [car, gap])).toEqual([
      [1, 0],
      [0, 6],
    ]);
  });

  it("brakes a person's car that has finished", async () => {
    await run(session, COUNTDOWN + TICKS + 7);
    expect([...session.actionOf(0)]).toEqual([0, 0, 1]);
  });

  it("takes the lap from a car that is put back on the road, and its place", async () => {
    await run(session, COUNTDOWN + 200);
    session.resetToRoad(1);
    expect(session.world.timers[1].isOutLap).toBe(true);
    expect(session.world.simulation.cars.centreDistance[1]).toBeLessThan(1e-3);
    expect(session.standings()[0].car).toBe(0);
  });

  it("takes one lap, however often a car is put back on it", async () => {
    await run(session, COUNTDOWN + 200);
    for (let i = 0; i < 3; i++) session.resetToRoad(1);
    const { distance } = session.world.progress[1];
    expect(distance).toBeLessThan(0);
    expect(distance).toBeGreaterThan(-LOADED.track.geometry.totalLength);
  });

  it("puts no car back before the start", () => {
    session.resetToRoad(0);
    expect(session.world.timers[0].isOutLap).toBe(false);
  });
});

it("tells its listeners of laps and finishes", async () => {
  const session = new Session(LOADED, [entrant("driver", 0)], { hasCountdown: false, laps: 1 });
  const told: unknown[] = [];
  session.listeners.push({
    lapped: (car, lap) => told.push(["lapped", car, lap.ticks]),
    finished: (car) => told.push(["finished", car]),
  });
  await run(session, TICKS);
  expect(told).toEqual([
    ["lapped", 0, TICKS],
    ["finished", 0],
  ]);
});

it("passes an error of a controller on", async () => {
  const controller: Controller = { act: () => Promise.reject(new Error("no answer")), begin: () => {} };
  const session = new Session(LOADED, [{ label: "driver", controller, isPerson: false }], {
    hasCountdown: false,
    laps: null,
  });
  await expect(session.tick()).rejects.toThrow("no answer");
});
