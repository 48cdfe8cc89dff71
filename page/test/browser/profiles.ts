/** Where the browsers of a run keep what they need: a run that is killed leaves it behind, and the next one removes it. */

import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PREFIX = "race-page-tests-"; // then the id of the run's process

export function setup(): () => void {
  const place = tmpdir();
  for (const name of readdirSync(place).filter((name) => name.startsWith(PREFIX))) {
    if (!isRunning(Number(name.slice(PREFIX.length)))) remove(join(place, name));
  }
  const folder = join(place, `${PREFIX}${process.pid}`);
  mkdirSync(folder, { recursive: true });
  process.env.TMPDIR = folder; // for Playwright, the browser and this run's workers
  return () => remove(folder);
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
