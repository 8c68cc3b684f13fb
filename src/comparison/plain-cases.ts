import type { Metric } from "#core/benchmark-metric.ts";
import { leastThreshold } from "./fence.ts";
import type { MatchedCase } from "./match-cases.ts";

/** The sums over the cases of a metric that are not reported individually. */
export interface PlainCases {
  count: number;
  /** Sums of their figures. */
  before: number;
  after: number;
  /** Cases without a verdict, because interleaved processes are missing. */
  hints: number;
}

export function noPlainCases(): PlainCases {
  return { count: 0, before: 0, after: 0, hints: 0 };
}

/**
 * Adds a case to `plain` when its summary suffices: figures of one machine on each side, no pairs, and a change too
 * small to be reported with any fence. Returns whether it did. Seven of eight figures of a comparison qualify, and a
 * record for each would take most of the comparison's time.
 */
export function addPlainCase(plain: PlainCases, matched: MatchedCase, metric: Metric): boolean {
  const [before] = matched.before;
  const [after] = matched.after;
  if (before === undefined || after === undefined || matched.pairs.length > 0) return false;
  if (matched.before.length > 1 || matched.after.length > 1) return false;
  if (before.fingerprint !== after.fingerprint) return false;
  const a = before.values[metric.name];
  const b = after.values[metric.name];
  if (a === undefined || b === undefined || !Number.isFinite(a) || !Number.isFinite(b))
    return false;
  const isHint = metric.nature === "noisy" || !metric.decides;
  if (!isHint && !isSurelyUnreported(a, b, metric)) return false;
  plain.count += 1;
  plain.before += a;
  plain.after += b;
  if (isHint && (a !== b || metric.nature === "noisy")) plain.hints += 1;
  return true;
}

function isSurelyUnreported(a: number, b: number, { nature }: Metric): boolean {
  if (a === b) return true;
  // A little lower, because the comparison may round differently.
  return nature === "deterministic" && Math.abs(b - a) < 0.999 * leastThreshold * Math.abs(a);
}
