/** A page to test: the built scripts with drivers and tracks, served on the loopback under a path. */

import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
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

/** The page's data in these tests. */
export const PAGE = parsePageData(JSON.parse(readFileSync(join(PROJECT, "page/test/data/page.json"), "utf8")));

/** A folder with the page, and a server for it. */
export class Site {
  readonly folder = mkdtempSync(join(tmpdir(), "race-page-"));
  private server: Server | null = null;

  constructor() {
    const built = join(PROJECT, "page/dist");
    if (!existsSync(join(built, "index.html")))
      throw new Error("page/dist is missing; run `npm run build` in page/ first");
    cpSync(built, this.folder, { recursive: true });
    cpSync(join(PROJECT, "tracks"), join(this.folder, "tracks"), { recursive: true });
    cpSync(join(PROJECT, "page/test/data/generated.json"), join(this.folder, PAGE.tracks[3].file));
    cpSync(join(PROJECT, "models/pretrained/driver.onnx"), join(this.folder, "drivers/pretrained.onnx"));
    cpSync(join(PROJECT, "physics.json"), join(this.folder, "physics.json"));
    this.write("page.json", JSON.stringify(PAGE));
  }

  /** Replace a file of the page. */
  write(name: string, content: string | Uint8Array): void {
    writeFileSync(join(this.folder, name), content);
  }

  /** Remove a file of the page. */
  remove(name: string): void {
    rmSync(join(this.folder, name));
  }

  /** Serve the page; return its address. */
  async start(port = 0): Promise<string> {
    const server = createServer((request, response) => {
      const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
      const name = path === PREFIX ? "index.html" : normalize(path.slice(PREFIX.length));
      const file = join(this.folder, name);
      if (!path.startsWith(PREFIX) || name.startsWith("..") || !existsSync(file)) {
        response.writeHead(404).end();
        return;
      }
      response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
      response.end(readFileSync(file));
    });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    this.server = server;
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}${PREFIX}`;
  }

  /** End the server and remove the folder. */
  stop(): void {
    this.server?.closeAllConnections();
    this.server?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
