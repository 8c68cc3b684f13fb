import type { GranaryBuildReport } from "./granary.ts";

/** Fewer say nothing of a build. */
const leastRequested = 8;
/** Some of what is made anew comes out as what was there, and so counts as asked for. */
const nearlyAll = 0.9;

/** Which tools of a build call the same things by other names than those who made them. */
type OtherKeys = "ccache" | "other";

/**
 * Whether a build shows that its keys are not those of the builds that an index tells of: what was expected lay ready, nearly
 * nothing of it was asked for, and nearly all that was asked for was made anew, which nobody had made under that name.
 *
 * Sources that are all new look the same where the index is of another commit: of those only near ones count.
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

/** What it may be, and what to do. */
export const otherKeysWords: Readonly<Record<OtherKeys, string>> = {
  ccache:
    "what others made of these sources was here, and this build asked for other keys: ccache puts the directory into them where it compiles with -g or is given absolute paths (docs/caches.md says how to leave it out: -fdebug-prefix-map, CCACHE_NOHASHDIR, CCACHE_BASEDIR), and other options change them, too",
  other:
    "what others made of these sources was here, and this build asked for other keys: other options, or a path of this machine in a key (docs/caches.md)",
};
