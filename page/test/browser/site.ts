/** A page to test: the built scripts with drivers and tracks, served on the loopback under a path. */

import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { parsePageData } from "../../src/data.js";

const PROJECT = fileURLToPath(new URL("../../..", import.meta.url));
const PREFIX = "/some/where/"; // a page works under any path
const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".wasm": "application/wasm",
  ".onnx": "application/octet-stream",
  ".svg": "image/svg+xml",
};

/** The page's data in these tests, as in its file. */
const PAGE_FILE = JSON.parse(readFileSync(join(PROJECT, "page/test/data/page.json"), "utf8"));
export const PAGE = parsePageData(PAGE_FILE);

/** Where files of the page come from that its build does not make. */
const SOURCES: Record<string, string> = {
  ...Object.fromEntries(PAGE.tracks.map(({ file }) => [file, file])),
  [PAGE.tracks[3].file]: "page/test/data/generated.json",
  "drivers/pretrained.onnx": "models/pretrained/driver.onnx",
  "physics.json": "physics.json",
};

/** A page whose files a test may change, and a server for it; they are changed in memory alone. */
export class Site {
  /** Files by their names; null for one that is removed. */
  private readonly changed = new Map<string, string | null>([["page.json", JSON.stringify(PAGE_FILE)]]);
  private server: Server | null = null;

  constructor() {
    if (this.read("index.html") === null) throw new Error("page/dist is missing; run `npm run build` in page/ first");
  }

  /** Replace a file of the page. */
  write(name: string, content: string): void {
    this.changed.set(name, content);
  }

  /** Remove a file of the page. */
  remove(name: string): void {
    this.changed.set(name, null);
  }

  /** Offer the same driver under other names, `driver-0` and so on, with these labels. */
  offer(labels: readonly string[]): void {
    const drivers = labels.map((label, i) => ({ ...PAGE_FILE.drivers[0], name: `driver-${i}`, label }));
    this.write("page.json", JSON.stringify({ ...PAGE_FILE, drivers }));
  }

  /** Take back what was done to a file. */
  restore(name: string): void {
    this.changed.delete(name);
  }

  /** Serve the page; return its address. */
  async start(): Promise<string> {
    const server = createServer((request, response) => {
      const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
      const name = path === PREFIX ? "index.html" : normalize(path.slice(PREFIX.length));
      const content = path.startsWith(PREFIX) && !name.startsWith("..") ? this.read(name) : null;
      if (content === null) {
        response.writeHead(404).end();
        return;
      }
      response.writeHead(200, { "content-type": TYPES[extname(name)] ?? "application/octet-stream" });
      response.end(content);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.server = server;
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}${PREFIX}`;
  }

  /** End the server. */
  stop(): void {
    this.server?.closeAllConnections();
    this.server?.close();
  }

  private read(name: string): string | Uint8Array | null {
    const changed = this.changed.get(name);
    if (changed !== undefined) return changed;
    const path = join(PROJECT, SOURCES[name] ?? `page/dist/${name}`);
    return existsSync(path) ? readFileSync(path) : null;
  }
}
