import { createHash } from "node:crypto";
import type { Comparison } from "#api/benchmark-comparison.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { Db, Tx } from "#db/db.ts";
import { acceptedDigest } from "./change-point.store.ts";
import { predecessorsOf } from "./compare-stored.ts";
import { countRowsUsed } from "./count-rows-used.store.ts";
import {
  type ComparisonQuery,
  type ComparisonRequested,
  readComparison,
  resolveComparison,
} from "./read-comparison.ts";

/** About 600 bytes a case: at most about 60 MB. */
const mostCases = 100_000;

interface CachedComparison {
  /** Equal keys mean equal comparisons. */
  readonly key: string;
  /** Undefined: the caller already has it. */
  readonly comparison: Comparison | undefined;
}

/**
 * Caches recent comparisons by the data that they depend on.
 *
 * A comparison is unchanged while suite, figures, accepted steps and neighbours are unchanged, and is computed again
 * when one of them changes.
 */
export function comparisonCache(db: Db) {
  const cache = recentlyUsed<Promise<Comparison>>(mostCases, ({ cases, missing }) =>
    Math.max(1, cases.length + missing.length),
  );

  return {
    async get(query: ComparisonQuery, known?: string): Promise<CachedComparison> {
      const requested = await resolveComparison(db, query);
      const predecessors = await predecessorsOf(db, requested.suite.suite, requested.before);
      const key = await contentKey(db, requested, predecessors);
      if (key === known) return { key, comparison: undefined };
      const make = () => db.transaction((tx) => readComparison(tx, requested, predecessors));
      return { key, comparison: await cache.get(key, make) };
    },
  };
}

async function contentKey(
  tx: Tx,
  requested: ComparisonRequested,
  near: readonly number[],
): Promise<string> {
  const { suite, suiteDigest, before, after, metric, neighbours } = requested;
  const [counts, accepted] = await Promise.all([
    countRowsUsed(tx, { before: before.id, after: after.id, predecessors: near }),
    acceptedDigest(tx, [before.id, ...near]),
  ]);
  const content = JSON.stringify({
    suite: suite.suite,
    suiteDigest,
    before: before.id,
    after: after.id,
    metric,
    neighbours,
    near,
    counts,
    accepted,
  });
  return createHash("sha256").update(content).digest("hex");
}
