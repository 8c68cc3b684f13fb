import type { CaseComparison, FenceEvidence, MissingCase } from "#api/benchmark-comparison.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import type { ArtifactsToCompare } from "./artifacts-to-compare.ts";
import { comparePairs, pairsOfMetric } from "./compare-pairs.ts";
import { type Fence, leastThreshold, thresholdWithoutHistory } from "./fence.ts";
import { countThreshold } from "./judge-counts.ts";
import { sideOf } from "./judge-pairs.ts";
import { isRelevant, magnitudeOf } from "./magnitude.ts";
import { type Figure, figuresOf, type MatchedCase, newestCommon } from "./match-cases.ts";
import { relativeChange } from "./relative-change.ts";

/**
 * The comparison of one metric of a case; or the side that lacks the metric; or undefined, when neither side has it.
 */
type ComparedCase =
  | {
      readonly kind: "compared";
      readonly comparison: CaseComparison;
      readonly pooledP: number | null;
    }
  | { readonly kind: "missing"; readonly missing: MissingCase["missing"] }
  | undefined;

export function compareCase(
  matched: MatchedCase,
  metric: Metric,
  input: ArtifactsToCompare,
): ComparedCase {
  const before = figuresOf(matched.before, metric.name);
  const after = figuresOf(matched.after, metric.name);
  const common = newestCommon(before, after);
  if (metric.nature === "noisy" && metric.decides) {
    const pairs = pairsOfMetric(matched, metric.name, common?.after.measured.fingerprint);
    if (pairs !== undefined) return comparePairs(matched, metric, pairs, common, input);
  }
  if (common !== undefined) return compared(compareFigures(matched, metric, common, input));
  const [earlier] = before;
  const [later] = after;
  if (earlier === undefined && later === undefined) return undefined;
  if (earlier === undefined) return { kind: "missing", missing: "before" };
  if (later === undefined) return { kind: "missing", missing: "after" };
  return compared(unlikeMachines(matched, metric, earlier, later, input));
}

function compared(comparison: CaseComparison): ComparedCase {
  return { kind: "compared", comparison, pooledP: null };
}

function compareFigures(
  matched: MatchedCase,
  metric: Metric,
  { before, after }: { before: Figure; after: Figure },
  input: ArtifactsToCompare,
): CaseComparison {
  const change = relativeChange(before.value, after.value);
  const { fingerprint } = before.measured;
  const isExact = metric.nature === "exact";
  const hint = metric.nature === "noisy" || !metric.decides;
  const fence = isExact ? exactFence : fenceOf(matched, metric, { before, after }, input);
  const equal = before.value === after.value;
  const size = change === null ? Number.POSITIVE_INFINITY : Math.abs(change);
  const significant = !hint && !equal && size >= fence.threshold;
  // A count that was measured only once on each side may differ in a repetition.
  const isUnsure = !fence.isSeen && !significant && size >= leastThreshold;
  const factor = size / fence.threshold;
  const magnitude = magnitudeOf(
    change,
    // For an exact metric every difference counts, but not every difference is large.
    isExact ? thresholdWithoutHistory : fence.threshold,
    metric.unit !== "instructions",
  );
  // Each object is created in one expression: with a thousand cases and eight metrics, spreading objects takes most of
  // the time.
  return {
    case: matched.case,
    category: input.categoryOf(matched.case),
    metric: metric.name,
    before: before.value,
    after: after.value,
    change,
    significant,
    magnitude,
    relevant: isRelevant(significant, magnitude),
    verdict: significant
      ? sideOf(after.value - before.value, metric.better)
      : (!hint && !isUnsure) || (equal && metric.nature !== "noisy")
        ? "no-change"
        : "undecided",
    evidence: hint
      ? { by: "hint" }
      : {
          by: "fence",
          threshold: fence.threshold,
          history: fence.history,
          factor: Number.isFinite(factor) ? factor : 0,
          exact: equal,
          ...(fence.scatter && { scatter: fence.scatter }),
        },
    fingerprint,
    collectors: { before: before.measured.collector, after: after.measured.collector },
    warnings: isUnsure
      ? [...warningsOf(before, after), "measured once for each artifact: its spread is not known"]
      : warningsOf(before, after),
  };
}

interface SeenFence extends Fence {
  /** Whether the scatter of the count was measured. */
  readonly isSeen: boolean;
  /** Null when the scatter was not measured. */
  readonly scatter?: FenceEvidence["scatter"];
}

const exactFence: SeenFence = { threshold: 0, history: 0, isSeen: true };

/**
 * Returns the smallest significant change of a count: it is larger than the count's own variation over artifacts, runs
 * and self-tests.
 */
function fenceOf(
  matched: MatchedCase,
  { name }: Metric,
  { before, after }: { readonly before: Figure; readonly after: Figure },
  input: ArtifactsToCompare,
): SeenFence {
  const { fingerprint } = before.measured;
  const seen = {
    before: before.measured.scatter[name],
    after: after.measured.scatter[name],
    selfTests: input.limitOf(matched.case, name, fingerprint),
  };
  const scatter = {
    before: seen.before ?? null,
    after: seen.after ?? null,
    selfTests: seen.selfTests ?? null,
  };
  return { ...countThreshold(input.historyOf(matched.case, name, fingerprint), seen), scatter };
}

function unlikeMachines(
  matched: MatchedCase,
  metric: Metric,
  before: Figure,
  after: Figure,
  input: ArtifactsToCompare,
): CaseComparison {
  return {
    case: matched.case,
    category: input.categoryOf(matched.case),
    metric: metric.name,
    before: before.value,
    after: after.value,
    // Null, because the difference is between the machines and not between the artifacts.
    change: null,
    significant: false,
    magnitude: 0,
    relevant: false,
    verdict: "unlike-machines",
    evidence: { by: "hint" },
    fingerprint: null,
    collectors: { before: before.measured.collector, after: after.measured.collector },
    warnings: warningsOf(before, after),
  };
}

function warningsOf(before: Figure, after: Figure): string[] {
  const [earlier, later] = [before.measured.warnings, after.measured.warnings];
  return earlier.length + later.length === 0 ? [] : [...new Set([...earlier, ...later])];
}
