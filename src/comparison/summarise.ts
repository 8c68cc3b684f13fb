import type {
  CaseComparison,
  CategorySummary,
  MetricSummary,
  Tally,
} from "#api/benchmark-comparison.ts";
import { deservesAttention, directionOf, joinDirections } from "./direction.ts";
import { noPlainCases, type PlainCases } from "./plain-cases.ts";

/** Sums up the cases of one metric. */
export function summarise(
  metric: string,
  cases: readonly CaseComparison[],
  plain: PlainCases = noPlainCases(),
): MetricSummary {
  const relevant = cases.filter((each) => each.relevant);
  const primary = relevant.filter(({ category }) => category === "primary");
  const secondary = relevant.filter(({ category }) => category === "secondary");
  const summaries = { primary: categorySummary(primary), secondary: categorySummary(secondary) };
  return {
    metric,
    ...summaries,
    direction: joinDirections([summaries.primary.direction, summaries.secondary.direction]),
    deservesAttention: deservesAttention(primary.map(asRelevant), secondary.map(asRelevant)),
    accumulated: accumulatedOver(cases, plain),
    // Hints do not need a verdict. They are left out, because they would hide the cases that need
    // more runs.
    undecided: cases.filter(
      ({ verdict, evidence }) => verdict === "undecided" && evidence.by === "pairs",
    ).length,
    unlikeMachines: cases.filter(({ verdict }) => verdict === "unlike-machines").length,
    hints:
      plain.hints +
      cases.filter(({ verdict, evidence }) => verdict === "undecided" && evidence.by === "hint")
        .length,
  };
}

/** Returns the change that is reported for a case: for interleaved processes, the estimate with an interval. */
export function statedChange({ evidence, change }: CaseComparison): number | null {
  return evidence.by === "pairs" ? evidence.effect : change;
}

function categorySummary(relevant: readonly CaseComparison[]): CategorySummary {
  return {
    direction: directionOf(relevant.map(asRelevant)),
    regressions: tally(relevant.filter(({ verdict }) => verdict === "regressed")),
    improvements: tally(relevant.filter(({ verdict }) => verdict === "improved")),
    all: tally(relevant),
  };
}

function asRelevant({ verdict, magnitude }: CaseComparison) {
  return { regression: verdict === "regressed", magnitude };
}

function tally(cases: readonly CaseComparison[]): Tally {
  // A change from zero is counted, but is not part of a mean.
  const changes = cases.map(statedChange).filter((change) => change !== null);
  const some = changes.length > 0;
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  // Means of ratios: twice as slow and twice as fast cancel out.
  const geometric = some ? Math.expm1(mean(changes.map((change) => Math.log1p(change)))) : null;
  return {
    count: cases.length,
    benchmarks: new Set(cases.map((each) => `${each.case.section} ${each.case.benchmark}`)).size,
    arithmeticMean: some ? mean(changes) : null,
    geometricMean: Number.isFinite(geometric) ? geometric : null,
    least: some ? changes.reduce((a, b) => Math.min(a, b)) : null,
    most: some ? changes.reduce((a, b) => Math.max(a, b)) : null,
  };
}

function accumulatedOver(cases: readonly CaseComparison[], plain: PlainCases): number | null {
  let { before, after } = plain;
  for (const each of cases) {
    if (each.verdict === "unlike-machines") continue;
    before += each.before;
    after += each.after;
  }
  const change = after / before - 1;
  return before !== 0 && Number.isFinite(change) ? change : null;
}
