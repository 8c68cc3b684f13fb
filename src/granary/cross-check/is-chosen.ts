import { createHash } from "node:crypto";
import { keyText, type Namespace, type ResultKey } from "#commit-index/result-key.ts";

/**
 * Whose values are the same when they are made again.
 *
 * Gradle's and Nx's have the time of the build in them, Turborepo's the log of the task, which may have: made
 * again, good ones would look wrong.
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
 * Returns whether a hit is made again and compared: for a share of them, the same ones however often the build requests
 * them.
 *
 * By build and key, so that over many builds every key has its turn.
 */
export function isChosen(share: number, build: string, key: ResultKey): boolean {
  if (share <= 0 || !comparable.has(key.namespace)) return false;
  const hash = createHash("sha256")
    .update(`${build}\0${keyText(key)}`)
    .digest();
  return hash.readUIntBE(0, 6) / 2 ** 48 < share;
}
