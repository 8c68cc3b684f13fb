import type { IndexEntry } from "#commit-index/index-entry.ts";
import { keyText } from "#commit-index/result-key.ts";

/** A result in a workspace's outputs, with its place there; undefined: unknown. */
export interface WorkingSetResult {
  readonly entry: IndexEntry;
  readonly place: string | undefined;
}

export interface WorkingSet {
  readonly results: readonly WorkingSetResult[];
  /** False when results are known to be left out. */
  readonly isWhole: boolean;
}

/** A build that requested less than this share of its known needs was served by its tool's own cache. */
const fewShare = 0.5;

/**
 * Returns the results that a whole workspace needs after a build that requested some of them.
 *
 * Bazel, make and others do not request results that their own records call up to date: after a change of one leaf they
 * request the leaf. Results that earlier builds put into other places are still needed; results at a place of this
 * build were replaced. Results without a place cannot be decided and are left out; the return value then says that
 * there are more.
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
