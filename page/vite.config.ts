/** Bundles the page. Addresses are relative, so that the folder works under any path of any web server. */

import { defineConfig } from "vitest/config";

export default defineConfig({
  base: "./",
  build: {
    target: "es2022",
    assetsInlineLimit: 0, // the page's security policy admits no data: addresses
    modulePreload: { polyfill: false },
  },
  test: {
    globalSetup: ["test/browser/profiles.ts"],
    include: ["test/**/*.test.ts"],
    maxWorkers: 2, // the game keeps real time, so a browser needs a core
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
