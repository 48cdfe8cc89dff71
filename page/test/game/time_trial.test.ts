import { expect, it } from "vitest";
import type { Controller } from "../../src/game/controller.js";
import { Session } from "../../src/game/session.js";
import { TimeTrial } from "../../src/game/time_trial.js";
import { bestLapOf, parseRecording, type RecordedLap, recordingText } from "../../src/storage/recording_file.js";
import { LAP, LOADED, PAGE } from "../loaded.js";

const { recording } = parseRecording(LAP, PAGE);
const { actions } = recording.drive;
const TICKS = actions.length / 3;

/** A time trial whose car repeats the recorded lap, so many ticks late. */
function trial(late: number, own: RecordedLap | null, loaded: RecordedLap | null = null) {
  let tick = 0;
  const controller: Controller = {
    act: (_senses, action) => {
      const first = (tick - late) * 3;
      action.set(first < 0 || first >= actions.length ? [0, 0, 0] : actions.subarray(first, first + 3));
      tick += 1;
    },
    begin: () => {},
  };
  const rules = { hasCountdown: false, laps: null };
  const session = new Session(LOADED, [{ label: "You", controller, isPerson: true }], rules);
  const told: RecordedLap[] = [];
  return { session, told, trial: new TimeTrial(session, 0, own, loaded, (lap) => told.push(lap)) };
}

async function run(session: Session, ticks: number): Promise<void> {
  for (let i = 0; i < ticks; i++) await session.tick();
}

/** Steer to where the road goes, at a steady throttle. */
function steering(session: Session): [number, number, number] {
  const { cars } = session.world.simulation;
  const ahead = LOADED.track.geometry.centreLine.pointAt(cars.arcLength[0] + 15 + 0.25 * cars.speed[0]);
  const turn = Math.atan2(ahead.y - cars.y[0], ahead.x - cars.x[0]) - cars.heading[0];
  const error = Math.atan2(Math.sin(turn), Math.cos(turn));
  return [Math.round(Math.max(-1, Math.min(1, -error * 2)) * 1000) / 1000, 1, 0];
}

it("records a first lap as the best, and makes it the ghost", async () => {
  const { session, told, trial: made } = trial(0, null);
  await run(session, TICKS);
  expect(told.length).toBe(1);
  expect(made.ghost?.path.ticks).toBe(TICKS);
  const read = parseRecording(recordingText(told[0].recording, LOADED, PAGE), PAGE).recording;
  expect(told[0].path).toEqual(bestLapOf(read, LOADED).path);
});

it("records a lap after one that did not count as its file has it", async () => {
  const { session, told } = trial(0, null);
  const { track } = LOADED;
  const toLine: Controller["act"] = (_senses, action) => action.set(steering(session));
  session.entrants[0].controller.act = toLine;
  await run(session, 100);
  session.resetToRoad(0); // in the first half of the lap
  while (session.world.timers[0].laps.length === 0) await session.tick();
  const { path, recording } = told[0];
  expect(path.ticks).toBe(session.world.timers[0].laps[0].ticks);
  expect(path).toEqual(bestLapOf(recording, LOADED).path);
  expect(path.progress.distance).toBeGreaterThan(track.geometry.totalLength - 1);
});

it("takes no lap that touched a wall", async () => {
  const { session, told } = trial(0, null);
  await run(session, 100);
  session.world.timers[0].isClean = false;
  await run(session, TICKS - 100);
  expect(session.world.timers[0].laps.length).toBe(1);
  expect(told).toEqual([]);
});

it("keeps the better lap", async () => {
  const own = bestLapOf(recording, LOADED);
  const { session, told, trial: made } = trial(5, own);
  await run(session, TICKS + 5);
  expect(session.world.timers[0].laps.length).toBe(1);
  expect(told).toEqual([]);
  expect(made.best).toBe(own);
});

it("is as far behind the ghost as it started late", async () => {
  const { session, trial: made } = trial(12, bestLapOf(recording, LOADED));
  await run(session, 200);
  expect(made.gap()).toBe(12);
});

it("shows the ghost where it was so many ticks into its lap", async () => {
  const { session, trial: made } = trial(0, bestLapOf(recording, LOADED));
  await run(session, 150);
  const { cars } = session.world.simulation;
  expect(made.ghostPose(1)).toEqual({ x: cars.x[0], y: cars.y[0], heading: cars.heading[0] });
});

it("has no ghost on a lap that does not count", async () => {
  const { session, trial: made } = trial(0, bestLapOf(recording, LOADED));
  await run(session, 150);
  session.resetToRoad(0);
  await run(session, 10);
  expect([made.ghostPose(1), made.gap()]).toEqual([null, null]);
});

it("beats a loaded lap rather than one's own", () => {
  const loaded = bestLapOf({ ...recording, driver: "someone" }, LOADED);
  const { trial: made } = trial(0, bestLapOf(recording, LOADED), loaded);
  expect(made.ghost?.label).toBe("the lap of someone");
});
