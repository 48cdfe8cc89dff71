/** The command line: loads the game's data, serves it, and ends on a signal or with the script that started it. */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { InputError, shown } from "./checks.js";
import { loadConfig } from "./config.js";
import { loadPhysics } from "./physics_file.js";
import { BridgeServer, HOST } from "./server.js";
import type { Game } from "./session.js";
import { TrackLibrary } from "./tracks.js";

const DEFAULT_PORT = 9876;
const MAX_PORT = 65_535;
const ENDED = 0;
const ENDED_AT_ONCE = 1;
const CANNOT_RUN = 2;

/** The toolkit's folder, three levels above the compiled file. */
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

const HELP = `usage: node dist/src/main.js [options]

Serves the racing game on ws://${HOST}:PORT; PROTOCOL.md says how to talk to it.

  --port N               port to listen on, 0 for any free one (default: the environment
                         variable BRIDGE_PORT, or ${DEFAULT_PORT})
  --tracks-dir DIR       folder of track files (default: the project's tracks)
  --config FILE          reward weights and episode limits of a reset that brings none
                         (default: the project's ai-config.json)
  --physics FILE         physics (default: the project's physics.json)
  --until-stdin-closes   end when the standard input closes, and so with the script that
                         holds its other end
  --help                 print this and end
`;

interface Options {
  readonly port: number;
  readonly tracksDir: string;
  readonly config: string;
  readonly physics: string;
  readonly untilStdinCloses: boolean;
}

function parseCommandLine() {
  try {
    return parseArgs({
      options: {
        port: { type: "string" },
        "tracks-dir": { type: "string", default: join(ROOT, "tracks") },
        config: { type: "string", default: join(ROOT, "ai-config.json") },
        physics: { type: "string", default: join(ROOT, "physics.json") },
        "until-stdin-closes": { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new InputError(`${oneLine(error)}; --help lists the options`);
  }
}

/** Return what the command line and the environment ask for, null for help. */
function parseOptions(): Options | null {
  const values = parseCommandLine();
  if (values.help) return null;
  return {
    port: portOf(values.port),
    tracksDir: values["tracks-dir"],
    config: values.config,
    physics: values.physics,
    untilStdinCloses: values["until-stdin-closes"],
  };
}

/** The port that the option names, or else the environment; there, empty is as good as not set. */
function portOf(option: string | undefined): number {
  if (option !== undefined) return parsePort(option, "--port");
  const { BRIDGE_PORT } = process.env;
  return BRIDGE_PORT ? parsePort(BRIDGE_PORT, "BRIDGE_PORT") : DEFAULT_PORT;
}

function parsePort(text: string, name: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= MAX_PORT)) {
    throw new InputError(`${name} must be a whole number from 0 to ${MAX_PORT}, got ${shown(text)}`);
  }
  return port;
}

function loadGame(options: Options): Game {
  const physics = load("--physics", () => loadPhysics(options.physics));
  return {
    physics,
    tracks: load("--tracks-dir", () => new TrackLibrary(options.tracksDir, physics)),
    config: load("--config", () => loadConfig(options.config)),
  };
}

/** Load something, and say with which option to name another if it cannot be. */
function load<T>(option: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    throw error instanceof InputError
      ? new InputError(`${error.message}; mend it or name another with ${option}`)
      : error;
  }
}

async function listen(server: BridgeServer, port: number): Promise<number> {
  try {
    return await server.listen(port);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") {
      throw new InputError(`port ${port} is in use; end what listens there, or choose another with --port`);
    }
    if (code === "EACCES") throw new InputError(`port ${port} is not permitted; choose one above 1023 with --port`);
    throw new InputError(`cannot listen on port ${port}: ${message}; choose another with --port`);
  }
}

/** End the server on a signal or the end of the standard input; on a signal while it is ending, at once. */
function endWhenAsked(server: BridgeServer, untilStdinCloses: boolean): void {
  let isEnding = false;
  const end = () => {
    isEnding = true;
    void server.close().then(() => process.exit(ENDED));
  };
  const onSignal = () => (isEnding ? process.exit(ENDED_AT_ONCE) : end());
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  if (!untilStdinCloses) return;
  const onStdinEnd = () => {
    if (!isEnding) end();
  };
  process.stdin.on("end", onStdinEnd).on("error", onStdinEnd).resume();
}

/** An error's message in one line. */
function oneLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, " ");
}

async function main(): Promise<void> {
  const options = parseOptions();
  if (options === null) {
    process.stdout.write(HELP);
    return;
  }
  const server = new BridgeServer(loadGame(options));
  const port = await listen(server, options.port);
  process.on("uncaughtException", (error) => console.error(`internal error: ${oneLine(error)}`));
  endWhenAsked(server, options.untilStdinCloses);
  console.log(`listening on ws://${HOST}:${port}`);
}

try {
  await main();
} catch (error) {
  console.error(`error: ${oneLine(error)}`);
  process.exitCode = CANNOT_RUN;
}
