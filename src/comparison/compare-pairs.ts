import type { CaseComparison } from "#api/benchmark-comparison.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import { median } from "#statistics/quartiles.ts";
import type { ArtifactsToCompare } from "./artifacts-to-compare.ts";
import { judgeNoisy } from "./judge-noisy.ts";
import { defaultRounds, type Pair, practicalLimit } from "./judge-pairs.ts";
import { isRelevant, magnitudeOf } from "./magnitude.ts";
import type { Figure, MatchedCase } from "./match-cases.ts";
import type { PairedCase } from "./measured.ts";
import { relativeChange } from "./relative-change.ts";

/** The pairs of one metric, from one machine. */
interface PairsOfMetric {
  readonly fingerprint: string;
  readonly collector: string;
  readonly paired: readonly Pair[];
  readonly rerun: readonly Pair[];
}

/** Returns the pairs of the requested machine if there are any, otherwise those of the first machine that has some. */
export function pairsOfMetric(
  matched: MatchedCase,
  metric: string,
  wanted: string | undefined,
): PairsOfMetric | undefined {
  if (matched.pairs.length === 0) return undefined;
  const fingerprints = [
    ...(wanted === undefined ? [] : [wanted]),
    ...matched.pairs.map((each) => each.fingerprint),
  ];
  for (const fingerprint of fingerprints) {
    const here = matched.pairs.filter((each) => each.fingerprint === fingerprint);
    const pairs = (purpose: PairedCase["purpose"]) =>
      here.filter((each) => each.purpose === purpose).flatMap((each) => pairsIn(each, metric));
    const paired = pairs("paired");
    const [first] = here;
    if (paired.length > 0 && first !== undefined) {
      return { fingerprint, collector: first.collector, paired, rerun: pairs("confirm") };
    }
  }
  return undefined;
}

function pairsIn(measured: PairedCase, metric: string): Pair[] {
  return measured.pairs.flatMap(({ child, parent, parentFirst }) => {
    const pair = {
      child: child[metric] ?? Number.NaN,
      parent: parent[metric] ?? Number.NaN,
      parentFirst,
    };
    return Number.isFinite(pair.child) && Number.isFinite(pair.parent) ? [pair] : [];
  });
}

export function comparePairs(
  matched: MatchedCase,
  metric: Metric,
  pairs: PairsOfMetric,
  common: { readonly before: Figure; readonly after: Figure } | undefined,
  input: ArtifactsToCompare,
): { kind: "compared"; comparison: CaseComparison; pooledP: number | null } {
  const judged = judgeNoisy(pairs.paired, pairs.rerun, {
    limit: practicalLimit(input.limitOf(matched.case, metric.name, pairs.fingerprint)),
    rounds: input.rounds ?? defaultRounds,
    better: metric.better,
  });
  // Medians of the pairs, not the minima of the results: those were measured at another time and may contradict the
  // pairs.
  const before = median(pairs.paired.map(({ parent }) => parent));
  const after = median(pairs.paired.map(({ child }) => child));
  const significant = judged.verdict === "regressed" || judged.verdict === "improved";
  const magnitude = magnitudeOf(judged.effect, judged.limit, metric.unit !== "instructions");
  const { verdict, p, effect, low, high, level, limit, confirmed, again } = judged;
  const machineWarnings =
    common?.after.measured.fingerprint === pairs.fingerprint
      ? [...common.before.measured.warnings, ...common.after.measured.warnings]
      : [];
  return {
    kind: "compared",
    pooledP: judged.pooledP,
    comparison: {
      case: matched.case,
      category: input.categoryOf(matched.case),
      metric: metric.name,
      before,
      after,
      change: relativeChange(before, after),
      significant,
      magnitude,
      relevant: isRelevant(significant, magnitude),
      verdict,
      evidence: {
        by: "pairs",
        pairs: judged.pairs,
        p,
        adjustedP: null,
        effect,
        low,
        high,
        level,
        limit,
        confirmed,
        again,
      },
      fingerprint: pairs.fingerprint,
      collectors: { before: pairs.collector, after: pairs.collector },
      warnings: [...new Set([...judged.warnings, ...machineWarnings])],
    },
  };
}
