#!/usr/bin/env node
// Runs the built program when it is current, else the sources as they are.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isCurrent } from "../scripts/source-stamp.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

if (!existsSync(join(root, "node_modules"))) {
  process.stderr.write(`Grange's packages are not installed. Run: npm ci --prefix ${root}\n`);
  process.exit(1);
}
if (isCurrent(root)) await import("../dist/grange.js");
else {
  const { register } = await import("tsx/esm/api");
  register();
  await import("../src/cli/main.ts");
}
