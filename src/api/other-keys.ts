import type { GranaryBuildReport } from "./granary.ts";

/** With fewer requests, no conclusion is possible. */
const leastRequested = 8;
/** Some results that are made again equal the present ones, and so count as requested. */
const nearlyAll = 0.9;

/** The tools of a build that use other names for the same files than the builds that made them. */
type OtherKeys = "ccache" | "other";

/**
 * Returns whether a build uses other keys than the builds of an index: the expected results were ready, nearly none was
 * requested, and nearly all requested results were made, because they did not exist under these names.
 *
 * Completely changed sources look the same if the index is of another commit, so only near indexes count.
 */
export function otherKeys(
  report: Pick<GranaryBuildReport, "indexes" | "counts" | "bytes" | "asked">,
): OtherKeys | undefined {
  const { indexes, counts, bytes, asked } = report;
  const { local, prefetched, fetched, missed, unreachable } = counts;
  const all = local + prefetched + fetched + missed + unreachable;
  const isOfThis = indexes.some(
    ({ distance, entries }) => distance <= 1 && entries >= leastRequested,
  );
  if (!isOfThis || all < leastRequested || missed < all * nearlyAll) return undefined;
  if (bytes.transferred === 0 || bytes.wasted < bytes.transferred * nearlyAll) return undefined;
  return asked.some(({ namespace }) => namespace === "ccache") ? "ccache" : "other";
}

/** The possible cause, and advice. */
export const otherKeysWords: Readonly<Record<OtherKeys, string>> = {
  ccache:
    "results of these sources exist, but under other keys: with -g or absolute paths, the keys of ccache contain the directory (docs/caches.md explains how to avoid this: -fdebug-prefix-map, CCACHE_NOHASHDIR, CCACHE_BASEDIR), and other options also change the keys",
  other:
    "results of these sources exist, but under other keys: the options differ, or a key contains a path of this machine (docs/caches.md)",
};
