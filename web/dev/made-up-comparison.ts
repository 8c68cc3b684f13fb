import type {
  CaseComparison,
  Comparison,
  MetricSummary,
  Tally,
} from "#api/benchmark-comparison.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import type { TestCase } from "#core/test-case.ts";

export const madeUpMetrics: readonly Metric[] = [
  {
    name: "instructions",
    nature: "deterministic",
    unit: "instructions",
    better: "lower",
    decides: true,
  },
  { name: "types", nature: "exact", unit: "count", better: "lower", decides: true },
  { name: "wall-time", nature: "noisy", unit: "seconds", better: "lower", decides: true },
  { name: "max-rss", nature: "noisy", unit: "bytes", better: "lower", decides: false },
];

export function madeUpTestCase(of: Partial<TestCase> = {}): TestCase {
  return {
    section: "compile",
    benchmark: "rxjs",
    profile: "check",
    scenario: "full",
    backend: "js",
    target: "linux-x64",
    ...of,
  };
}

/** A case that was judged with a fence by its change; a relevant one regressed or improved. */
export function madeUpCase(
  of: Partial<TestCase>,
  changes: Partial<CaseComparison> = {},
): CaseComparison {
  const change = changes.change === undefined ? 0.02 : changes.change;
  const relevant = changes.relevant ?? true;
  return {
    case: madeUpTestCase(of),
    category: "primary",
    metric: "instructions",
    before: change === null ? 0 : 1_027_000_000,
    after: change === null ? 5 : Math.round(1_027_000_000 * (1 + change)),
    change,
    significant: relevant,
    magnitude: relevant ? 3 : 0,
    relevant,
    verdict: !relevant ? "no-change" : change === null || change > 0 ? "regressed" : "improved",
    evidence: {
      by: "fence",
      threshold: 0.0021,
      history: 30,
      factor: Math.abs(change ?? 1) / 0.0021,
      exact: change === 0,
    },
    fingerprint: "5f1c77aa90",
    collectors: { before: "barn-1", after: "barn-1" },
    warnings: [],
    ...changes,
  };
}

function tally(changes: readonly number[], benchmarks = changes.length): Tally {
  const mean = changes.reduce((sum, each) => sum + each, 0) / changes.length;
  return changes.length === 0
    ? {
        count: 0,
        benchmarks: 0,
        arithmeticMean: null,
        geometricMean: null,
        least: null,
        most: null,
      }
    : {
        count: changes.length,
        benchmarks,
        arithmeticMean: mean,
        geometricMean: mean * 0.98,
        least: Math.min(...changes),
        most: Math.max(...changes),
      };
}

export function madeUpSummary(metric: string, cases: readonly CaseComparison[]): MetricSummary {
  const of = (category: CaseComparison["category"]) => {
    const own = cases.filter((each) => each.category === category && each.relevant);
    const changes = (verdict: CaseComparison["verdict"]) =>
      own.filter((each) => each.verdict === verdict).flatMap(({ change }) => change ?? []);
    const [worse, better] = [changes("regressed"), changes("improved")];
    return {
      direction:
        worse.length > 0 && better.length > 0
          ? ("mixed" as const)
          : worse.length > 0
            ? ("regression" as const)
            : better.length > 0
              ? ("improvement" as const)
              : ("none" as const),
      regressions: tally(worse),
      improvements: tally(better),
      all: tally([...worse, ...better]),
    };
  };
  const primary = of("primary");
  return {
    metric,
    primary,
    secondary: of("secondary"),
    direction: primary.direction,
    deservesAttention: primary.direction !== "none",
    accumulated: cases.length === 0 ? null : 0.0037,
    undecided: cases.filter(({ verdict }) => verdict === "undecided").length,
    unlikeMachines: cases.filter(({ verdict }) => verdict === "unlike-machines").length,
  };
}

export function madeUpComparison(changes: Partial<Comparison> = {}): Comparison {
  const { cases = [] } = changes;
  return {
    suite: "typescript",
    before: { tag: "nightly-20260531", datedAt: "2026-05-31T00:00:00Z", commit: null },
    after: {
      tag: "nightly-20260601",
      datedAt: "2026-06-01T00:00:00Z",
      commit: "5f1c77aa905f1c77aa905f1c77aa905f1c77aa90",
    },
    contiguous: true,
    neighbours: { earlier: "nightly-20260530", later: "nightly-20260602" },
    metrics: [...madeUpMetrics],
    metric: "instructions",
    summaries: [madeUpSummary("instructions", cases)],
    cases,
    missing: [],
    newlyBroken: [],
    ...changes,
  };
}
