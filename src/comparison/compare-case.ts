import type { CaseComparison, MissingCase } from "#api/benchmark-comparison.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import type { ArtifactsToCompare } from "./artifacts-to-compare.ts";
import { comparePairs, pairsOfMetric } from "./compare-pairs.ts";
import { deterministicFence, thresholdWithoutHistory } from "./fence.ts";
import { sideOf } from "./judge-pairs.ts";
import { isRelevant, magnitudeOf } from "./magnitude.ts";
import { type Figure, figuresOf, type MatchedCase, newestCommon } from "./match-cases.ts";
import { relativeChange } from "./relative-change.ts";

/** One case's metric compared; or which side lacks it; or nothing, where neither has it. */
export type ComparedCase =
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
  const fence = isExact
    ? { threshold: 0, history: 0 }
    : deterministicFence(input.historyOf(matched.case, metric.name, fingerprint));
  const equal = before.value === after.value;
  const size = change === null ? Number.POSITIVE_INFINITY : Math.abs(change);
  const significant = !hint && !equal && size >= fence.threshold;
  const factor = size / fence.threshold;
  const magnitude = magnitudeOf(
    change,
    // Of an exact figure every difference counts, but not every difference is a great one.
    isExact ? thresholdWithoutHistory : fence.threshold,
    metric.unit !== "instructions",
  );
  // Each in one go: of a thousand cases and eight metrics, objects put together from others take most of the time.
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
      : !hint || (equal && metric.nature !== "noisy")
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
        },
    fingerprint,
    collectors: { before: before.measured.collector, after: after.measured.collector },
    warnings: warningsOf(before, after),
  };
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
    // A number would be read as one of the artifacts, and it is one of the machines.
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
