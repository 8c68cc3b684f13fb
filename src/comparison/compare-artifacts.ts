import type { CaseComparison, MetricSummary, MissingCase } from "#api/benchmark-comparison.ts";
import { adjustForMany } from "./adjust-for-many.ts";
import type { ArtifactsToCompare } from "./artifacts-to-compare.ts";
import { compareCase } from "./compare-case.ts";
import { matchCases } from "./match-cases.ts";
import { missingAltogether, missingCase, newlyBroken } from "./missing-cases.ts";
import { addPlainCase, noPlainCases, type PlainCases } from "./plain-cases.ts";
import { summarise } from "./summarise.ts";

export type { ArtifactsToCompare, BenchmarkFailure } from "./artifacts-to-compare.ts";

export interface ComparedArtifacts {
  readonly summaries: MetricSummary[];
  readonly cases: CaseComparison[];
  readonly missing: MissingCase[];
  readonly newlyBroken: { benchmark: string; message: string }[];
}
/**
 * Compares all metrics of two artifacts, case by case. Pure: the caller has read all data.
 *
 * All metrics are judged even if one is requested, because significance is decided over all of them.
 */
export function compareArtifacts(input: ArtifactsToCompare): ComparedArtifacts {
  const matched = matchCases(input.before, input.after, input.pairs);
  const found: CaseComparison[] = [];
  const pooledP: (number | null)[] = [];
  const missing: MissingCase[] = [];
  const plainOf = new Map<string, PlainCases>();
  for (const metric of input.metrics) {
    const isSummary = input.metric !== undefined && metric.name !== input.metric;
    const plain = noPlainCases();
    plainOf.set(metric.name, plain);
    for (const each of matched) {
      if (isSummary && addPlainCase(plain, each, metric)) continue;
      const compared = compareCase(each, metric, input);
      if (compared?.kind === "compared") {
        found.push(compared.comparison);
        pooledP.push(compared.pooledP);
      } else if (compared?.kind === "missing" && metric.name === input.metric) {
        missing.push(missingCase(each, compared.missing, input.errors));
      }
    }
  }
  const cases = adjustForMany(found, pooledP);
  const byMetric = new Map<string, CaseComparison[]>();
  for (const each of cases) {
    const list = byMetric.get(each.metric);
    if (list === undefined) byMetric.set(each.metric, [each]);
    else list.push(each);
  }
  const summaries = input.metrics.flatMap(({ name }) => {
    const its = byMetric.get(name) ?? [];
    const plain = plainOf.get(name) ?? noPlainCases();
    return its.length + plain.count === 0 ? [] : [summarise(name, its, plain)];
  });
  return {
    summaries,
    cases: input.metric === undefined ? cases : (byMetric.get(input.metric) ?? []),
    missing: input.metric === undefined ? missingAltogether(matched, input.errors) : missing,
    newlyBroken: newlyBroken(input.errors),
  };
}
