import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { PHYSICS_PATH, PROJECT_ROOT } from "./engine_helpers.js";
import { Client } from "./helpers.js";

const MAIN = fileURLToPath(new URL("../src/main.js", import.meta.url));
const LISTENING = /^listening on ws:\/\/127\.0\.0\.1:(\d+)\n$/;

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(args: readonly string[], environment: NodeJS.ProcessEnv): Child {
  const { BRIDGE_PORT: _, ...inherited } = process.env;
  const env = { ...inherited, ...environment };
  return spawn(process.execPath, [MAIN, ...args], { env, stdio: ["pipe", "pipe", "pipe"] });
}

async function run(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const child = start(args, environment);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code, stdout, stderr };
}

/** Start a bridge on a free port, wait until it is ready, and run a test on it; whatever happens, it ends. */
async function withBridge(
  body: (child: Child, port: number) => Promise<void>,
  args: readonly string[] = ["--port", "0"],
  environment: NodeJS.ProcessEnv = {},
): Promise<void> {
  const child = start(args, environment);
  try {
    const [line] = await once(child.stdout.setEncoding("utf8"), "data");
    const match = LISTENING.exec(line);
    assert.ok(match, line);
    await body(child, Number(match[1]));
  } finally {
    child.kill("SIGKILL");
  }
}

describe("the command line", { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "bridge-"));
  after(() => rmSync(folder, { recursive: true }));
  const brokenFile = join(folder, "broken.json");
  writeFileSync(brokenFile, '{"weights": ');

  test("serves the project's game", () =>
    withBridge(async (_, port) => {
      const client = await Client.connect(port);
      const { tracks } = await client.ask({ type: "hello" });
      assert.ok(tracks.some(({ id }: { id: string }) => id === "track-01"));
      assert.equal((await client.ask({ type: "reset" })).type, "reset_result");
      client.socket.terminate();
    }));

  test("takes the port from the environment, and the command line's before it", async () => {
    await withBridge(async () => {}, [], { BRIDGE_PORT: "0" });
    await withBridge(async () => {}, ["--port=0"], { BRIDGE_PORT: "nonsense" });
  });

  test("takes other data", async () => {
    const config = join(folder, "config.json");
    writeFileSync(config, '{"episode": {"maxSteps": 1}}');
    const data = ["--config", config, "--tracks-dir", join(PROJECT_ROOT, "tracks"), "--physics", PHYSICS_PATH];
    await withBridge(
      async (_, port) => {
        const client = await Client.connect(port);
        await client.ask({ type: "reset" });
        assert.equal((await client.ask({ type: "step", action: [0, 0, 0] })).truncated, true);
        client.socket.terminate();
      },
      ["--port", "0", ...data],
    );
  });

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    test(`ends on ${signal} with 1001 and exit code 0 within a second`, () =>
      withBridge(async (child, port) => {
        const client = await Client.connect(port);
        const begun = performance.now();
        child.kill(signal);
        const [closeCode, [exitCode]] = await Promise.all([client.closeCode, once(child, "exit")]);
        assert.equal(closeCode, 1001);
        assert.equal(exitCode, 0);
        assert.ok(performance.now() - begun < 1000);
      }));
  }

  test("ends at once on a second signal", () =>
    withBridge(async (child, port) => {
      const client = await Client.connect(port);
      client.socket.pause(); // so that it does not answer the goodbye
      child.kill("SIGINT");
      const exit = once(child, "exit");
      const again = setInterval(() => child.kill("SIGINT"), 20);
      const ended = await exit;
      clearInterval(again);
      client.socket.terminate();
      assert.deepEqual(ended, [1, null]);
    }));

  test("ends when its standard input closes, if asked to", () =>
    withBridge(
      async (child, port) => {
        const client = await Client.connect(port);
        child.stdin.write("ignored\n");
        child.stdin.end();
        assert.deepEqual(await once(child, "exit"), [0, null]);
        assert.equal(await client.closeCode, 1001);
      },
      ["--port", "0", "--until-stdin-closes"],
    ));

  test("goes on when its standard input closes otherwise", () =>
    withBridge(async (child, port) => {
      child.stdin.end();
      const client = await Client.connect(port);
      assert.equal((await client.ask({ type: "hello" })).type, "hello_result");
      client.socket.terminate();
    }));

  test("logs a bug in one line and keeps its connections", () => {
    const bug = 'process.on("SIGUSR2", () => { throw new Error("two\\nlines"); })';
    const environment = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(bug)}` };
    return withBridge(
      async (child, port) => {
        const client = await Client.connect(port);
        child.kill("SIGUSR2");
        const [line] = await once(child.stderr.setEncoding("utf8"), "data");
        assert.equal(line, "internal error: two lines\n");
        assert.equal((await client.ask({ type: "hello" })).type, "hello_result");
        client.socket.terminate();
      },
      ["--port", "0"],
      environment,
    );
  });

  test("prints help", async () => {
    const { code, stdout, stderr } = await run(["--help"]);
    assert.equal(code, 0);
    assert.equal(stderr, "");
    for (const name of ["--port", "--tracks-dir", "--config", "--physics", "--until-stdin-closes", "BRIDGE_PORT"]) {
      assert.match(stdout, new RegExp(name));
    }
  });

  const wrong: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [["--port", "text"], /--port must be a whole number from 0 to 65535, got "text"/],
    [["--port", "70000"], /--port must be .*, got "70000"/],
    [["--port=-1"], /--port must be .*, got "-1"/],
    [["--port", "-1"], /--port/],
    [["--port", "1.5"], /--port must be .*, got "1.5"/],
    [["--port", "0x10"], /--port must be .*, got "0x10"/],
    [["--port", ""], /--port must be .*, got ""/],
    [["--port"], /--port.*argument missing; --help lists the options/],
    [["--prot", "1"], /Unknown option '--prot'.*--help lists the options/],
    [["9876"], /Unexpected argument '9876'.*--help lists the options/],
    [["--tracks-dir", join(folder, "none")], /tracks folder not found: .*none/],
    [["--physics", join(folder, "none.json")], /physics file not found: .*none\.json/],
    [["--config", join(folder, "none.json")], /configuration file not found: .*none\.json/],
    [["--config", brokenFile], /broken\.json is not valid JSON/],
    [["--tracks-dir", folder], /broken\.json is not valid JSON/],
  ];
  for (const [args, message] of wrong) {
    test(`says in one line what is wrong with ${args.join(" ")}`, async () => {
      const { code, stdout, stderr } = await run(["--port", "0", ...args]);
      assert.equal(code, 2);
      assert.equal(stdout, "");
      assert.match(stderr, /^error: [^\n]+\n$/);
      assert.match(stderr, message);
    });
  }

  test("says what is wrong with BRIDGE_PORT", async () => {
    const { code, stderr } = await run([], { BRIDGE_PORT: "text" });
    assert.equal(code, 2);
    assert.equal(stderr, 'error: BRIDGE_PORT must be a whole number from 0 to 65535, got "text"\n');
  });

  test("takes an empty BRIDGE_PORT as not set", async () => {
    // The usual port is in use, by the test or by someone else, so that the bridge names it and ends.
    const other = createServer().on("error", () => {});
    const isDecided = Promise.race([once(other, "listening"), once(other, "error")]);
    other.listen(9876, "127.0.0.1");
    await isDecided.catch(() => {});
    const { code, stderr } = await run([], { BRIDGE_PORT: "" });
    other.close();
    assert.equal(code, 2);
    assert.match(stderr, /^error: port 9876 is in use/);
  });

  test("says that the port is in use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const { code, stdout, stderr } = await run(["--port", String(port)]);
    other.close();
    assert.equal(code, 2);
    assert.equal(stdout, "");
    assert.match(stderr, new RegExp(`^error: port ${port} is in use; [^\n]+--port\n$`));
  });
});
