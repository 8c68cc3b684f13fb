import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Need } from "./needs.ts";

/**
 * Returns the path of a file of `test/support/from-npm`: packages that only a few tests use, so
 * that they are not dependencies of Grange.
 */
export function packageFile(
  name: string,
  file: string,
): { readonly path: string; readonly need: Need } {
  const path = fileURLToPath(new URL(`../from-npm/node_modules/${file}`, import.meta.url));
  const missing = existsSync(path) ? undefined : "not installed";
  const command = "npm install --no-save --prefix test/support/from-npm";
  return { path, need: { name, missing, remedy: { kind: "command", command } } };
}
