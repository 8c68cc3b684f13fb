import type { LimitSource } from "#api/benchmark-noise.ts";
import type { MetricNature } from "#core/benchmark-metric.ts";
import { deterministicFence, leastThreshold } from "./fence.ts";
import { countThreshold } from "./judge-counts.ts";
import { practicalLimit } from "./judge-pairs.ts";

/** The known variation of a case's metric on one kind of machine, as fractions; undefined: not measured. */
interface SeenNoise {
  /** Values of the main line before the next artifact, newest first, at most 30; not beyond an accepted step. */
  readonly history: readonly number[];
  /** The relative range of the runs of the newest artifact. */
  readonly runs: number | undefined;
  /** The 95th percentile of |relative change| between equal artifacts, of self-tests. */
  readonly selfTests: number | undefined;
}

/**
 * Returns the relative change from which the next artifact's figure is reported as changed, with the source of that
 * limit.
 */
export function learnedLimit(
  nature: MetricNature,
  { history, runs, selfTests }: SeenNoise,
): { readonly limit: number; readonly from: LimitSource } {
  switch (nature) {
    case "exact":
      return { limit: 0, from: "exact" };
    case "noisy": {
      const limit = practicalLimit(selfTests);
      return { limit, from: limit === selfTests ? "self-tests" : "least" };
    }
    case "deterministic": {
      const { threshold, isSeen } = countThreshold(history, {
        before: runs,
        after: undefined,
        selfTests,
      });
      if (!isSeen) return { limit: threshold, from: "unseen" };
      if (threshold === leastThreshold) return { limit: threshold, from: "least" };
      const fence = deterministicFence(history);
      if (fence.history > 0 && threshold === fence.threshold)
        return { limit: threshold, from: "history" };
      return { limit: threshold, from: (selfTests ?? 0) >= (runs ?? 0) ? "self-tests" : "runs" };
    }
  }
}
