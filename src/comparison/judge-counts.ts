import type { Metric } from "#core/benchmark-metric.ts";
import { deterministicFence, leastThreshold } from "./fence.ts";
import { sideOf } from "./judge-pairs.ts";
import { relativeChange } from "./relative-change.ts";

/**
 * A count must change by this multiple of its own variation. Simulated over normal, uniform, exponential, two-mode and
 * heavy-tailed scatter: with five runs on each side, at most two in a thousand equal programs change more.
 */
export const scatterFactor = 2;

/**
 * The limit for a count without any data: one run on each side, no history, no self-test. Equal programs with a garbage
 * collector were seen to differ by 0.6 %; a change of this size is reported nevertheless.
 */
const limitOfUnseen = 0.02;

/** Returns the relative distance between the least and the greatest value; undefined for fewer than two. */
export function relativeRange(values: readonly number[]): number | undefined {
  if (values.length < 2) return undefined;
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? 0 : Math.abs(relativeChange(least, most) ?? Number.POSITIVE_INFINITY);
}

/** The known variation of a count, as fractions; undefined: not measured. */
interface SeenScatter {
  /** The relative range of the runs of the earlier and of the later artifact. */
  readonly before: number | undefined;
  readonly after: number | undefined;
  /** The 95th percentile of |relative change| between equal artifacts, of self-tests. */
  readonly selfTests: number | undefined;
}

/** Returns the relative change from which counts are different; `isSeen`: whether the variation was measured at all. */
export function countLimit(seen: SeenScatter): {
  readonly limit: number;
  readonly isSeen: boolean;
} {
  const sides = [seen.before, seen.after, seen.selfTests].filter((each) => each !== undefined);
  if (sides.length === 0) return { limit: limitOfUnseen, isSeen: false };
  return { limit: Math.max(leastThreshold, scatterFactor * Math.max(...sides)), isSeen: true };
}

/**
 * Returns the threshold of a verdict on a count: the larger of the fence over the predecessors and the measured
 * scatter. `history`: how many values the fence is computed from; 0 for none. `isSeen`: false when the scatter was not
 * measured.
 */
export function countThreshold(
  history: readonly number[],
  seen: SeenScatter,
): { readonly threshold: number; readonly history: number; readonly isSeen: boolean } {
  const fence = deterministicFence(history);
  const { limit, isSeen } = countLimit(seen);
  if (fence.history === 0) return { threshold: limit, history: 0, isSeen };
  const threshold = isSeen ? Math.max(fence.threshold, limit) : fence.threshold;
  return { threshold, history: fence.history, isSeen: true };
}

/** Compares runs of equal artifacts, as verdicts compare two artifacts. */
export function judgeEqualRuns(
  before: readonly number[],
  after: readonly number[],
  { nature, better }: Pick<Metric, "nature" | "better">,
): { readonly verdict: "regressed" | "improved" | "no-change"; readonly change: number } {
  const best = better === "lower" ? Math.min : Math.max;
  const isExact = nature === "exact";
  // For an exact metric all runs must agree, also two runs of one side.
  const [earlier, later] = isExact
    ? extremes([...before, ...after])
    : [best(...before), best(...after)];
  const change = earlier === later ? 0 : (relativeChange(earlier, later) ?? Number.NaN);
  const limit = isExact
    ? 0
    : countLimit({
        before: relativeRange(before),
        after: relativeRange(after),
        selfTests: undefined,
      }).limit;
  const differs = earlier !== later && !(Math.abs(change) < limit);
  return { verdict: differs ? sideOf(later - earlier, better) : "no-change", change };
}

function extremes(values: readonly number[]): [number, number] {
  return [Math.min(...values), Math.max(...values)];
}
