import { keyText, type ResultKey } from "#commit-index/result-key.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import type { GranaryResult } from "../granary-result.ts";

/**
 * Results whose value is local and whose blobs are still at the farm. Blobs are fetched when a tool reads them, and many are
 * never read.
 *
 * Kept in memory only, because every result in the store has all of its blobs.
 */
export interface PartialResults {
  find(project: string, key: ResultKey): GranaryResult | undefined;
  add(result: GranaryResult): void;
  /**
   * Notes that a blob is in the store now. Returns the results that this completes; the caller stores them and then
   * removes them here.
   */
  arrived(digest: Digest): GranaryResult[];
  /** Drops the results that name a blob which the farm has lost. */
  lost(digest: Digest): void;
  forget(project: string, key: ResultKey): void;
}

interface Half {
  readonly result: GranaryResult;
  readonly missing: Set<string>;
  /** The number of digests that it names, which counts against `mostBlobs`. */
  readonly size: number;
  readonly since: number;
}

/** The farm keeps blobs for some hours after a lookup; ten minutes are safely within that. */
const keptForMs = 10 * 60_000;

/** The most digests kept in memory, at about 150 bytes each. */
const mostBlobs = 200_000;

export function partialResults(now: () => number = () => performance.now()): PartialResults {
  // A Map iterates in the order of insertion: the first is the oldest.
  const partial = new Map<string, Half>();
  const byBlob = new Map<string, Set<string>>();
  let blobs = 0;
  const nameOf = (project: string, key: ResultKey) => `${keyText(key)} ${project}`;

  const drop = (name: string) => {
    const half = partial.get(name);
    if (half === undefined) return;
    partial.delete(name);
    blobs -= half.size;
    for (const blob of half.missing) {
      const names = byBlob.get(blob);
      names?.delete(name);
      if (names?.size === 0) byBlob.delete(blob);
    }
  };

  return {
    find(project, key) {
      const name = nameOf(project, key);
      const half = partial.get(name);
      if (half !== undefined && now() - half.since > keptForMs) {
        drop(name);
        return undefined;
      }
      return half?.result;
    },
    add(result) {
      const name = nameOf(result.project, result);
      drop(name);
      const missing = new Set([...result.blobs, result.value].map(digestKey));
      if (missing.size > mostBlobs) return;
      partial.set(name, { result, missing, size: missing.size, since: now() });
      blobs += missing.size;
      for (const blob of missing) byBlob.set(blob, (byBlob.get(blob) ?? new Set()).add(name));
      for (const oldest of partial.keys()) {
        if (blobs <= mostBlobs) break;
        drop(oldest);
      }
    },
    arrived(digest) {
      const key = digestKey(digest);
      const whole: GranaryResult[] = [];
      for (const name of byBlob.get(key) ?? []) {
        const half = partial.get(name);
        if (half === undefined || !half.missing.delete(key)) continue;
        if (half.missing.size === 0) whole.push(half.result);
      }
      byBlob.delete(key);
      return whole;
    },
    lost(digest) {
      for (const name of byBlob.get(digestKey(digest)) ?? []) drop(name);
    },
    forget: (project, key) => drop(nameOf(project, key)),
  };
}
