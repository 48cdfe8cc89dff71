// Runs a script of this folder that is written in TypeScript: node measure/run.mjs NAME

import { runnerImport } from "vite";

await runnerImport(`./measure/${process.argv[2]}.ts`);
