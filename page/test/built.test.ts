/** What `npm run build` makes: small, and with relative addresses alone. */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));
const MOST = 15_000_000; // bytes; of which onnxruntime-web has nearly all

it("is small enough to be sent to a phone", () => {
  const files = readdirSync(DIST, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const size = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  expect(size).toBeLessThan(MOST);
});

it("finds its files under any path", () => {
  const page = readFileSync(join(DIST, "index.html"), "utf8");
  const addresses = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address);
  expect(addresses.length).toBeGreaterThan(2);
  expect(addresses.filter((address) => !address.startsWith("./"))).toEqual([]);
});
