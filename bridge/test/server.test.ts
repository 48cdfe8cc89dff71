import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { after, before, describe, mock, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { BridgeServer } from "../src/server.js";
import { Poll } from "../src/spin.js";
import type { TrackLibrary } from "../src/tracks.js";
import { ask, Client, game, sessionAfter } from "./helpers.js";

const STEP = { type: "step", action: [0.2, 1, 0] };
const UPGRADE = [
  "GET / HTTP/1.1",
  "Host: 127.0.0.1",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

/** Wait until something holds. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}

/** Open a TCP connection and send lines of an HTTP request. */
async function dial(port: number, lines: readonly string[]): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  if (lines.length > 0) socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  return socket;
}

/** Read what comes until the other side ends. */
async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  await once(socket, "close");
  return Buffer.concat(chunks).toString("latin1");
}

/** A frame as a client sends it, masked with zeros. */
function frame(firstByte: number, payload: readonly number[]): Buffer {
  return Buffer.from([firstByte, 0x80 | payload.length, 0, 0, 0, 0, ...payload]);
}

/** Upgrade by hand, send bytes, and return the code of the close frame that comes back. */
async function closeCodeAfter(port: number, bytes: Buffer): Promise<number> {
  const socket = await dial(port, UPGRADE);
  await once(socket, "data");
  socket.write(bytes);
  const [reply] = await once(socket, "data");
  socket.destroy();
  assert.equal(reply[0], 0x88);
  return reply.readUInt16BE(2);
}

/** A server, and how many resets its clients have made. */
function countingServer(): { counting: BridgeServer; resets: () => number } {
  let resets = 0;
  const track = (id: string) => {
    resets++;
    return game.tracks.track(id);
  };
  const counting = new BridgeServer({ ...game, tracks: { track } as TrackLibrary });
  return { counting, resets: () => resets };
}

describe("the server", { timeout: 20_000 }, () => {
  const server = new BridgeServer(game);
  let port: number;

  before(async () => {
    port = await server.listen(0);
  });
  after(() => server.close());

  test("answers requests in order, also those sent before a reply is read", async () => {
    const client = await Client.connect(port);
    const twin = sessionAfter({ type: "reset" });
    const replies: string[] = [];
    client.socket.on("message", (data) => replies.push(String(data)));
    client.socket.send('{"type":"reset"}');
    for (let count = 0; count < 20; count++) client.socket.send(JSON.stringify(STEP));
    await until(() => replies.length === 21);
    for (const reply of replies.slice(1)) assert.deepEqual(JSON.parse(reply), ask(twin, STEP));
    client.socket.close();
  });

  test("polls for the next request after every reply", async () => {
    const [began, ended] = [mock.method(Poll.prototype, "begin"), mock.method(Poll.prototype, "end")];
    const client = await Client.connect(port);
    for (let count = 1; count <= 3; count++) {
      await client.ask({ type: "hello" });
      assert.deepEqual([ended.mock.callCount(), began.mock.callCount()], [count, count]);
    }
    mock.restoreAll();
    client.socket.close();
  });

  test("does not compress", async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: true });
    await once(socket, "open");
    assert.equal(socket.extensions, "");
    socket.close();
  });

  test("keeps connections apart", async () => {
    const [one, other] = await Promise.all([Client.connect(port), Client.connect(port)]);
    const [twinOfOne, twinOfOther] = [sessionAfter({ type: "reset" }), sessionAfter({ type: "reset", numEnvs: 2 })];
    const steps = { type: "step", actions: [STEP.action, [0, 0, 1]] };
    await one.ask({ type: "reset" });
    await other.ask({ type: "reset", numEnvs: 2 });
    for (let count = 0; count < 10; count++) {
      assert.deepEqual(await one.ask(STEP), ask(twinOfOne, STEP));
      assert.deepEqual(await other.ask(steps), ask(twinOfOther, steps));
    }
    one.socket.send(Buffer.alloc(70_000, "x").toString());
    assert.equal(await one.closeCode, 1009);
    assert.deepEqual(await other.ask(steps), ask(twinOfOther, steps));
    other.socket.close();
  });

  test("replies to a close and then closes with 1000", async () => {
    const client = await Client.connect(port);
    assert.deepEqual(await client.ask({ type: "close" }), { type: "close_result" });
    assert.equal(await client.closeCode, 1000);
    await until(() => server.connectionCount === 0);
  });

  test("does nothing more after a close", async () => {
    const { counting, resets } = countingServer();
    const client = await Client.connect(await counting.listen(0));
    const replies: string[] = [];
    client.socket.on("message", (data) => replies.push(String(data)));
    client.socket.send('{"type":"reset"}');
    client.socket.send('{"type":"close"}');
    client.socket.send('{"type":"reset"}');
    await client.closeCode;
    await counting.close();
    assert.equal(replies.length, 2);
    assert.equal(replies[1], '{"type":"close_result"}');
    assert.equal(resets(), 1);
  });

  const FLOODS = {
    resets: frame(0x81, [...Buffer.from('{"type":"reset"}')]),
    "what is no JSON": frame(0x81, [0x7b]),
    "binary frames out of place": frame(0x82, []),
    pings: frame(0x89, []),
  };
  for (const [name, message] of Object.entries(FLOODS)) {
    test(`takes turns, so that a client that floods it hardly delays another: ${name}`, async () => {
      const quiet = await Client.connect(port);
      const flooding = await dial(port, UPGRADE);
      await once(flooding, "data");
      flooding.write(message);
      const [{ length }] = await once(flooding, "data"); // of the reply to one message
      let received = 0;
      flooding.on("data", (data) => {
        received += data.length;
      });
      flooding.write(Buffer.concat(new Array(2000).fill(message)));
      for (let count = 0; count < 20; count++) await quiet.ask(STEP);
      assert.ok(received < 500 * length, `${received / length} replies between 20 steps`);
      flooding.destroy();
      quiet.socket.close();
      await until(() => server.connectionCount === 0);
    });
  }

  test("closes with 1008 on a message in too many frames", async () => {
    const more = new Array(1024).fill(frame(0x00, [])); // continues a message and does not end it
    assert.equal(await closeCodeAfter(port, Buffer.concat([frame(0x01, [0x7b]), ...more])), 1008);
  });

  test("replies with an error to a binary frame and stays usable", async () => {
    const client = await Client.connect(port);
    const error = await client.ask(Buffer.from('{"type":"hello"}'));
    assert.equal(error.type, "error");
    assert.match(error.message, /expected a text frame/);
    assert.equal((await client.ask({ type: "hello" })).type, "hello_result");
    client.socket.close();
  });

  test("takes a message of 65,536 bytes and closes with 1009 at one more", async () => {
    const client = await Client.connect(port);
    const longest = '{"type":"hello"}'.padEnd(65_536);
    assert.equal((await client.ask(longest)).type, "hello_result");
    client.socket.send(`${longest} `);
    assert.equal(await client.closeCode, 1009);
  });

  test("closes with 1007 on text that is not UTF-8", async () => {
    assert.equal(await closeCodeAfter(port, frame(0x81, [0x22, 0xc3, 0x28, 0x22])), 1007);
  });

  test("closes with 1002 on frames that WebSocket forbids", async () => {
    assert.equal(await closeCodeAfter(port, frame(0x83, [])), 1002); // reserved opcode
    assert.equal(await closeCodeAfter(port, frame(0xc1, [0x7b, 0x7d])), 1002); // compressed, which was not agreed on
    assert.equal(await closeCodeAfter(port, Buffer.from([0x81, 0x02, 0x7b, 0x7d])), 1002); // not masked
  });

  test("drops a connection that vanishes", async () => {
    const client = await Client.connect(port);
    await client.ask({ type: "reset" });
    assert.equal(server.connectionCount, 1);
    client.socket.terminate();
    await until(() => server.connectionCount === 0);

    const socket = await dial(port, UPGRADE);
    await once(socket, "data");
    assert.equal(server.connectionCount, 1);
    socket.write(frame(0x81, [0x7b]).subarray(0, 4));
    socket.resetAndDestroy();
    await until(() => server.connectionCount === 0);
  });

  test("closes a client that does not read its replies with 1008", async () => {
    const { counting, resets } = countingServer();
    const client = await Client.connect(await counting.listen(0));
    client.socket.pause();
    for (let count = 0; count < 600; count++) client.socket.send('{"type":"reset","numEnvs":256}');
    for (let before = -1; before < resets(); await sleep(50)) before = resets(); // until the server takes no more
    client.socket.resume();
    assert.equal(await client.closeCode, 1008);
    await until(() => counting.connectionCount === 0);
    await counting.close();
  });

  test("ends a client that does not even read the close", async () => {
    const client = await Client.connect(port);
    client.socket.pause();
    for (let count = 0; count < 600; count++) client.socket.send('{"type":"reset","numEnvs":256}');
    await until(() => server.connectionCount === 0);
    client.socket.terminate();
  });

  test("answers plain HTTP with 426 and one line", async () => {
    const [response] = await once(request({ port, host: "127.0.0.1", path: "/" }).end(), "response");
    assert.equal(response.statusCode, 426);
    assert.equal(response.headers.upgrade, "websocket");
    assert.match(String(await response.toArray()), /^[^\n]+\n$/);
  });

  test("refuses the pages of other machines", async () => {
    for (const origin of ["https://example.com", "http://127.0.0.1.example.com", "null", "http://localhost@evil.net"]) {
      const reply = await readAll(await dial(port, [...UPGRADE, `Origin: ${origin}`]));
      assert.match(reply, /^HTTP\/1\.1 403 Forbidden\r\n/, origin);
    }
    for (const origin of ["http://localhost:8000", "http://127.0.0.1", "http://[::1]:3000"]) {
      const socket = await dial(port, [...UPGRADE, `Origin: ${origin}`]);
      const [reply] = await once(socket, "data");
      assert.match(String(reply), /^HTTP\/1\.1 101 /, origin);
      socket.destroy();
    }
  });

  test("answers an upgrade to something else with an error", async () => {
    const lines = UPGRADE.map((line) => line.replace("websocket", "h2c"));
    assert.match(await readAll(await dial(port, lines)), /^HTTP\/1\.1 4\d\d /);
  });

  test("tells that a port is in use", async () => {
    await assert.rejects(new BridgeServer(game).listen(port), { code: "EADDRINUSE" });
  });
});

test("drops a connection that never finishes the handshake", { timeout: 10_000 }, async () => {
  const server = new BridgeServer(game, 200);
  const port = await server.listen(0);
  const silent = await dial(port, []);
  const slow = await dial(port, []);
  slow.write("GET / HTTP/1.1\r\nHost:");
  await Promise.all([readAll(silent), readAll(slow)]);
  await server.close();
});

describe("the server's end", { timeout: 10_000 }, () => {
  test("says goodbye with 1001 and takes no more connections", async () => {
    const server = new BridgeServer(game);
    const port = await server.listen(0);
    const clients = await Promise.all([Client.connect(port), Client.connect(port)]);
    await clients[0].ask({ type: "reset" });
    await server.close();
    assert.deepEqual(await Promise.all(clients.map((client) => client.closeCode)), [1001, 1001]);
    assert.equal(server.connectionCount, 0);
    await assert.rejects(Client.connect(port), { code: "ECONNREFUSED" });
  });

  test("waits neither for a client that says nothing nor for a handshake", async () => {
    const server = new BridgeServer(game);
    const port = await server.listen(0);
    const deaf = await dial(port, UPGRADE);
    await once(deaf, "data");
    const half = await dial(port, []);
    await until(() => server.connectionCount === 1);
    const begun = performance.now();
    await server.close();
    assert.ok(performance.now() - begun < 1500);
    assert.equal(server.connectionCount, 0);
    deaf.destroy();
    half.destroy();
  });
});
