/** The WebSocket server: sockets, limits and close codes around one session per connection. */

import { createServer, type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import { type Game, Session } from "./session.js";
import { Poll } from "./spin.js";

/** The only address to listen on: the bridge drives cars for whoever connects. */
export const HOST = "127.0.0.1";

const MAX_REQUEST_BYTES = 65_536;
const MAX_FRAMES = 1024; // of one message; all that arrive together are taken in one go
const MAX_UNREAD_BYTES = 16 * 1024 * 1024; // of replies that a client leaves lying
const UNREAD_GRACE_MS = 1000; // from the close for unread replies to the end of the connection
const END_GRACE_MS = 500; // from the bridge's goodbye to the end of every connection
const HANDSHAKE_TIMEOUT_MS = 8000;
const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];

const NORMAL_CLOSURE = 1000;
const GOING_AWAY = 1001;
const POLICY_VIOLATION = 1008;

/** Serves a game to any number of connections, each with a simulation of its own. */
export class BridgeServer {
  private readonly httpServer: Server;
  private readonly webSocketServer: WebSocketServer;
  private readonly poll = new Poll();

  /** A client has `handshakeTimeoutMs`, and a quarter more, to become a WebSocket. */
  constructor(
    private readonly game: Game,
    handshakeTimeoutMs = HANDSHAKE_TIMEOUT_MS,
  ) {
    this.httpServer = createServer({
      noDelay: true,
      headersTimeout: handshakeTimeoutMs,
      requestTimeout: handshakeTimeoutMs,
      connectionsCheckingInterval: handshakeTimeoutMs / 4,
    });
    this.webSocketServer = new WebSocketServer({
      noServer: true,
      perMessageDeflate: false,
      maxPayload: MAX_REQUEST_BYTES,
      maxFragments: MAX_FRAMES,
      // One message per connection and turn of the event loop. The rest stays unread in the client's socket, so a
      // client that sends without a pause slows the others only by what one message takes.
      allowSynchronousEvents: false,
    });
    this.httpServer.on("request", (_request, response) => {
      response.writeHead(426, { Connection: "close", Upgrade: "websocket", "Content-Type": "text/plain" });
      response.end("this is the racing bridge; connect with a WebSocket client\n");
    });
    this.httpServer.on("upgrade", (request, socket, head) => this.upgrade(request, socket, head));
  }

  /** How many WebSocket connections there are. */
  get connectionCount(): number {
    return this.webSocketServer.clients.size;
  }

  /** Listen on a port, 0 for any free one, and return it; rejects with the system's error. */
  listen(port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.httpServer.once("error", reject);
      this.httpServer.listen(port, HOST, () => {
        this.httpServer.off("error", reject);
        resolve((this.httpServer.address() as AddressInfo).port);
      });
    });
  }

  /** Say goodbye to every connection and end within a second, whether they answer or not. */
  async close(): Promise<void> {
    const { clients } = this.webSocketServer;
    const ended = [this.httpServer, this.webSocketServer].map(
      (server) => new Promise((resolve) => server.close(resolve)),
    );
    this.httpServer.closeAllConnections();
    for (const socket of clients) socket.close(GOING_AWAY, "the bridge ends");
    const ending = setTimeout(() => {
      for (const socket of clients) socket.terminate();
    }, END_GRACE_MS);
    await Promise.all(ended);
    clearTimeout(ending);
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (isForeign(request.headers.origin)) {
      refuse(socket, 403, "only pages of this machine may connect");
      return;
    }
    this.webSocketServer.handleUpgrade(request, socket, head, (webSocket) => this.serve(webSocket));
  }

  private serve(socket: WebSocket): void {
    const session = new Session(this.game);
    // The library closes with the right code on an error and tells; here is nothing left to do.
    socket.on("error", () => {});
    socket.on("message", (data: Buffer, isBinary) => {
      this.poll.end();
      if (socket.readyState !== WebSocket.OPEN) return;
      const { reply, close } = session.handle(isBinary ? data : data.toString());
      socket.send(reply);
      if (close) socket.close(NORMAL_CLOSURE);
      else if (socket.bufferedAmount > MAX_UNREAD_BYTES) closeUnread(socket);
      this.poll.begin();
    });
  }
}

function closeUnread(socket: WebSocket): void {
  socket.close(POLICY_VIOLATION, "too many unread replies");
  const ending = setTimeout(() => socket.terminate(), UNREAD_GRACE_MS);
  socket.once("close", () => clearTimeout(ending));
}

/** Return whether a request comes from a web page of another machine: any page could drive the bridge otherwise. */
function isForeign(origin: string | undefined): boolean {
  if (origin === undefined) return false;
  return !URL.canParse(origin) || !LOOPBACK_NAMES.includes(new URL(origin).hostname);
}

function refuse(socket: Duplex, status: number, reason: string): void {
  socket.on("error", () => {});
  socket.once("finish", () => socket.destroy());
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: text/plain\r\n`;
  socket.end(`${head}Content-Length: ${reason.length + 1}\r\n\r\n${reason}\n`);
}
