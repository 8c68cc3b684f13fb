import type { CommitIndexPage } from "#api/granary.ts";
import type { IndexEntry } from "#commit-index/index-entry.ts";
import { keyText } from "#commit-index/result-key.ts";
import type { FarmResult } from "./project-results.ts";

/** Returns entries for a page, with whether the farm still has their complete results. */
export function resultsOnPage(
  entries: readonly IndexEntry[],
  whole: readonly FarmResult[],
): CommitIndexPage["results"] {
  const here = new Set(whole.map(keyText));
  return entries.map((entry) => ({
    namespace: entry.namespace,
    key: entry.key,
    bytes: entry.blobs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    blobs: entry.blobs.length,
    firstMs: entry.firstMs,
    savedMs: entry.savedMs ?? null,
    here: here.has(keyText(entry)),
  }));
}
