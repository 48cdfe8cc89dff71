import { expect, it } from "vitest";
import { Replay } from "../../src/game/recorder.js";
import { bestLapOf, parseRecording, recordingText } from "../../src/storage/recording_file.js";
import { LAP, LOADED, PAGE } from "../loaded.js";

const CONTENT = JSON.parse(LAP);

it("reads what the toolkit writes, and drives it to the same end", () => {
  const { recording, entry } = parseRecording(LAP, PAGE);
  const replay = new Replay(LOADED.track, recording.drive);
  expect(entry.id).toBe("track-01");
  expect(replay.best).toEqual({ first: 0, last: CONTENT.actions.length, isClean: true });
  expect(replay.end).toEqual(CONTENT.end);
  expect(bestLapOf(recording, LOADED).path.ticks).toBe(CONTENT.actions.length);
});

it("writes what the toolkit reads: the same content", () => {
  const { recording } = parseRecording(LAP, PAGE);
  const { ai_config: _, ...content } = CONTENT;
  expect(JSON.parse(recordingText(recording, LOADED, PAGE))).toEqual(content);
});

const CASES: [string, object, RegExp][] = [
  ["another format", { format: 2 }, /format must be from 1 to 1/],
  ["other physics", { physics_fingerprint: "0" }, /other physics/],
  ["a track that the page lacks", { track_fingerprint: "0" }, /a track that this page does not have/],
  ["no ticks", { actions: [] }, /actions must hold 1 to/],
  ["an action of two numbers", { actions: [[0, 1]] }, /actions\[0\] must have 3 entries/],
  ["an action that is no number", { actions: [[0, null, 1]] }, /actions\[0\]\[1\] must be a finite number/],
  ["a start without a heading", { start: { ...CONTENT.start, heading: undefined } }, /start lacks the key "heading"/],
  ["a key that nobody knows", { extra: 1 }, /unknown key "extra"/],
];

it.each(CASES)("refuses a file with %s", (_name, change, message) => {
  expect(() => parseRecording(JSON.stringify({ ...CONTENT, ...change }), PAGE)).toThrow(message);
});

it("refuses a recording that drives differently here", () => {
  const end = { ...CONTENT.end, x: CONTENT.end.x + 1 };
  const { recording } = parseRecording(JSON.stringify({ ...CONTENT, end }), PAGE);
  expect(() => bestLapOf(recording, LOADED)).toThrow(/drives differently here/);
});

it("refuses a start that the track does not have", () => {
  const { recording } = parseRecording(
    JSON.stringify({ ...CONTENT, start: { ...CONTENT.start, checkpoint: 30 } }),
    PAGE,
  );
  expect(() => bestLapOf(recording, LOADED)).toThrow(/no state of a car/);
});

it("refuses a recording without a lap", () => {
  const { recording } = parseRecording(LAP, PAGE);
  const part = { ...recording.drive, actions: recording.drive.actions.slice(0, 3) };
  const drive = { ...part, end: new Replay(LOADED.track, part).end };
  expect(() => bestLapOf({ driver: "you", drive }, LOADED)).toThrow(/no completed lap/);
});
