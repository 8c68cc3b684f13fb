import { type Digest, uniqueDigests } from "#core/digest.ts";
import { fewInputs } from "./few-inputs.ts";
import type { IndexEntry } from "./index-entry.ts";
import { indexLimits } from "./index-limits.ts";
import { keyText } from "./result-key.ts";

/**
 * Merges the requests of several builds, in order of first use. A build with fewer requests removes nothing, and
 * repeating an index changes nothing, in any order.
 *
 * When two builds had different values for a key, the earlier index's comes first.
 */
export function mergeIndexes(indexes: readonly (readonly IndexEntry[])[]): IndexEntry[] {
  const byKey = new Map<string, IndexEntry>();
  for (const entries of indexes) {
    for (const entry of entries) {
      const name = keyText(entry);
      const known = byKey.get(name);
      byKey.set(name, known === undefined ? entry : mergeEntries(known, entry));
    }
  }
  return [...byKey.values()].sort(byFirstUse);
}

export function byFirstUse(one: IndexEntry, other: IndexEntry): number {
  if (one.firstMs !== other.firstMs) return one.firstMs - other.firstMs;
  const [a, b] = [keyText(one), keyText(other)];
  return a < b ? -1 : Number(a > b);
}

function mergeEntries(one: IndexEntry, other: IndexEntry): IndexEntry {
  return {
    namespace: one.namespace,
    key: one.key,
    blobs: unionOf(one.blobs, other.blobs),
    firstMs: Math.min(one.firstMs, other.firstMs),
    savedMs: leastKnown(one.savedMs, other.savedMs),
    inputs: inputsOf(one.inputs, other.inputs),
  };
}

/**
 * Returns the shortest time that making it took. Disturbances, mainly a busy machine, only increase the time; and
 * unlike a median, the minimum needs no count of builds.
 */
function leastKnown(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}

function unionOf(one: readonly Digest[], other: readonly Digest[]): readonly Digest[] {
  if (other.every((digest, at) => one[at] !== undefined && isSame(one[at], digest))) return one;
  return uniqueDigests([...one, ...other]).slice(0, indexLimits.blobsOfEntry);
}

function isSame(one: Digest, other: Digest): boolean {
  return one.hash === other.hash && one.sizeBytes === other.sizeBytes;
}

function inputsOf(
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): readonly string[] | undefined {
  return one === undefined || other === undefined ? (one ?? other) : fewInputs([...one, ...other]);
}
