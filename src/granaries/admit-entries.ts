import type { IndexEntry } from "#commit-index/index-entry.ts";
import { keyText } from "#commit-index/result-key.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import type { FarmResult } from "./project-results.ts";

/** The limit for all blobs of one index, in bytes; more is never prefetched. */
const mostIndexedBytes = 64 * 1024 ** 3;

/**
 * Returns the part of a granary's index that the farm accepts: entries with stored results, and blobs of these results.
 *
 * So no client can make others fetch blobs that no result of the project refers to. The value is always the first blob,
 * in its present version: when two machines made the same result, only the later one is stored. Missing blobs (`gone`)
 * are left out; so is an entry without its value.
 */
export function admitEntries(
  entries: readonly IndexEntry[],
  results: readonly FarmResult[],
  gone: ReadonlySet<string>,
): IndexEntry[] {
  const known = new Map(results.map((result) => [keyText(result), result]));
  return entries.flatMap((entry) => {
    const result = known.get(keyText(entry));
    if (result === undefined) return [];
    const hasValue = result.bytes !== undefined || !gone.has(digestKey(result.value));
    if (!hasValue) return [];
    const own = new Map(result.blobs.map((blob) => [digestKey(blob), blob]));
    const digests = new Map<string, Digest>([[digestKey(result.value), result.value]]);
    for (const blob of entry.blobs) {
      const name = digestKey(blob);
      const its = own.get(name);
      if (its !== undefined && !gone.has(name)) digests.set(name, its);
    }
    return [{ ...entry, blobs: [...digests.values()] }];
  });
}

/**
 * Returns the first entries whose blobs are at most `most` bytes, with their sum. A blob of several entries counts
 * once.
 */
export function withinBytes(
  entries: readonly IndexEntry[],
  most = mostIndexedBytes,
): { readonly entries: readonly IndexEntry[]; readonly bytes: number } {
  const seen = new Set<string>();
  let bytes = 0;
  for (const [at, { blobs }] of entries.entries()) {
    const added = blobs.filter((blob) => !seen.has(digestKey(blob)));
    const more = added.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (bytes + more > most) return { entries: entries.slice(0, at), bytes };
    bytes += more;
    for (const blob of added) seen.add(digestKey(blob));
  }
  return { entries, bytes };
}

/** Returns whether an index contains all of this already. Times of requests and costs need not be sent twice. */
export function addsNothing(entries: readonly IndexEntry[], index: readonly IndexEntry[]): boolean {
  const known = new Map(index.map((entry) => [keyText(entry), entry]));
  return entries.every((entry) => {
    const its = known.get(keyText(entry));
    if (its === undefined) return false;
    const names = new Set(its.blobs.map(digestKey));
    return entry.blobs.every((blob) => names.has(digestKey(blob)));
  });
}
