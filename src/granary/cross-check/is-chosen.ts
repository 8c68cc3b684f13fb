import { createHash } from "node:crypto";
import { keyText, type Namespace, type ResultKey } from "#commit-index/result-key.ts";

/**
 * The namespaces whose values are equal when they are made again.
 *
 * Gradle's and Nx's values contain the time of the build, and Turborepo's contain the log of the task, which may
 * contain a time: correct values would differ.
 */
const comparable: ReadonlySet<Namespace> = new Set([
  "reapi",
  "bazel",
  "ccache",
  "sccache",
  "dune",
  "results",
]);

/**
 * Returns whether a hit is made again and compared: for a share of them, always the same ones for repeated requests of
 * a build.
 *
 * The choice depends on build and key, so that over many builds every key is checked.
 */
export function isChosen(share: number, build: string, key: ResultKey): boolean {
  if (share <= 0 || !comparable.has(key.namespace)) return false;
  const hash = createHash("sha256")
    .update(`${build}\0${keyText(key)}`)
    .digest();
  return hash.readUIntBE(0, 6) / 2 ** 48 < share;
}
