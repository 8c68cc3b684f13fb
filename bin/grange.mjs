#!/usr/bin/env node
// Runs the built program. In a checkout whose sources changed since the build, runs the sources as they are.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
// The package has no sources: what it was built from stays in the checkout.
const isCheckout = existsSync(join(root, "scripts", "source-stamp.mjs"));

if (!isCheckout || (await isBuilt())) await import("../dist/grange.js");
else {
  const { register } = await import("tsx/esm/api");
  register();
  await import("../src/cli/main.ts");
}

async function isBuilt() {
  if (!existsSync(join(root, "node_modules"))) {
    process.stderr.write(`Grange's packages are not installed. Run: npm ci --prefix ${root}\n`);
    process.exit(1);
  }
  const { isCurrent } = await import("../scripts/source-stamp.mjs");
  if (isCurrent(root)) return true;
  if (existsSync(join(root, "node_modules", "tsx"))) return false;
  process.stderr.write(
    `Grange's sources changed since they were built. Run: npm run build --prefix ${root}\n`,
  );
  process.exit(1);
}
