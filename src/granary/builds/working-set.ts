import type { IndexEntry } from "#commit-index/index-entry.ts";
import { keyText } from "#commit-index/result-key.ts";

/** What a workspace's outputs were made from, and where its build system puts it; undefined: nobody knows where. */
export interface WorkingSetResult {
  readonly entry: IndexEntry;
  readonly place: string | undefined;
}

export interface WorkingSet {
  readonly results: readonly WorkingSetResult[];
  /** Whether nothing is known to be left out. */
  readonly isWhole: boolean;
}

/** A build that asked for less than this share of what is known to be needed was helped by its tool's own books. */
const fewShare = 0.5;

/**
 * What all of a workspace needs after a build that asked for some of it.
 *
 * Bazel, make and others do not ask for what their own books say is up to date: after a change of one leaf they ask for
 * the leaf. What earlier builds put into other places is still needed there; what they put where this one
 * has put something was taken away. Of results without a place nobody can tell, and they are left out: then it is told
 * that there are more.
 */
export function workingSet(
  before: readonly WorkingSetResult[],
  now: readonly WorkingSetResult[],
): WorkingSet {
  const keys = new Set(now.map(({ entry }) => keyText(entry)));
  const places = new Set(now.map(({ place }) => place));
  const others = before.filter(({ entry }) => !keys.has(keyText(entry)));
  const standing = others.filter(({ place }) => place !== undefined && !places.has(place));
  const unknown = others.filter(({ place }) => place === undefined).length;
  const results = [...now, ...standing].sort((a, b) => a.entry.firstMs - b.entry.firstMs);
  return { results, isWhole: results.length >= (results.length + unknown) * fewShare };
}
