/** What the tests of session and server share: the project's game, and a client that waits for replies. */

import { once } from "node:events";
import { join } from "node:path";
import { WebSocket } from "ws";
import { loadConfig } from "../src/config.js";
import { type Game, Session } from "../src/session.js";
import { LIBRARY, PHYSICS, PROJECT_ROOT } from "./engine_helpers.js";

/** A message as it comes out of JSON.parse. */
// biome-ignore lint/suspicious/noExplicitAny: replies are looked into at will, and a wrong guess fails the test
export type Message = any;

/** The project's own game. */
export const game: Game = {
  physics: PHYSICS,
  tracks: LIBRARY,
  config: loadConfig(join(PROJECT_ROOT, "ai-config.json")),
};

/** Ask a session and return the parsed reply. */
export function ask(session: Session, request: object): Message {
  return JSON.parse(String(session.handle(JSON.stringify(request)).reply));
}

/** Return a session on which a request has been made. */
export function sessionAfter(request: object): Session {
  const session = new Session(game);
  ask(session, request);
  return session;
}

/** A WebSocket client: one request, one reply. */
export class Client {
  /** The code that the server closed with. */
  readonly closeCode: Promise<number>;

  private constructor(readonly socket: WebSocket) {
    this.closeCode = once(socket, "close").then(([code]) => code);
  }

  /** Connect to a server on this machine. */
  static async connect(port: number): Promise<Client> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
    await once(socket, "open");
    return new Client(socket);
  }

  /** Send text, bytes or an object as JSON, and return the parsed reply. */
  async ask(request: object | string | Buffer): Promise<Message> {
    const isRaw = typeof request === "string" || Buffer.isBuffer(request);
    this.socket.send(isRaw ? request : JSON.stringify(request));
    const [data] = await once(this.socket, "message");
    return JSON.parse(String(data));
  }
}
