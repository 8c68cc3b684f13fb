import { keyText, type ResultKey } from "#commit-index/result-key.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import type { GranaryResult } from "../granary-result.ts";

/**
 * Results whose value is here and whose blobs are still at the farm: they are fetched when a tool reads them, and
 * many a tool never reads some.
 *
 * In memory only: a result in the store has all of its blobs.
 */
export interface HalfFetched {
  find(project: string, key: ResultKey): GranaryResult | undefined;
  add(result: GranaryResult): void;
  /** A blob is in the store now. Answers the results that have all of theirs by that: to be kept, and then forgotten. */
  arrived(digest: Digest): GranaryResult[];
  /** A blob is gone from the farm: results that name it are none. */
  lost(digest: Digest): void;
  forget(project: string, key: ResultKey): void;
}

interface Half {
  readonly result: GranaryResult;
  readonly missing: Set<string>;
  /** How many it named: what it weighs. */
  readonly size: number;
  readonly since: number;
}

/** The farm keeps what it was just asked for; for how long exactly is its business. */
const keptForMs = 10 * 60_000;

/** Digests that are remembered, in all: about 150 bytes each. */
const mostBlobs = 200_000;

export function halfFetched(now: () => number = () => performance.now()): HalfFetched {
  // A Map walks its keys in the order of insertion: the first is the oldest.
  const halves = new Map<string, Half>();
  const byBlob = new Map<string, Set<string>>();
  let blobs = 0;
  const nameOf = (project: string, key: ResultKey) => `${keyText(key)} ${project}`;

  const drop = (name: string) => {
    const half = halves.get(name);
    if (half === undefined) return;
    halves.delete(name);
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
      const half = halves.get(name);
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
      halves.set(name, { result, missing, size: missing.size, since: now() });
      blobs += missing.size;
      for (const blob of missing) byBlob.set(blob, (byBlob.get(blob) ?? new Set()).add(name));
      for (const oldest of halves.keys()) {
        if (blobs <= mostBlobs) break;
        drop(oldest);
      }
    },
    arrived(digest) {
      const key = digestKey(digest);
      const whole: GranaryResult[] = [];
      for (const name of byBlob.get(key) ?? []) {
        const half = halves.get(name);
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
