import type { Principal } from "#access/principal.ts";
import type { Comparison } from "#api/benchmark-comparison.ts";
import type { ChangePointView, Series, SeriesGrid, Steps } from "#api/benchmark-history.ts";
import type { CaseNoise } from "#api/benchmark-noise.ts";
import type { TestCase } from "#core/test-case.ts";
import type { ComparisonQuery } from "#perf/history/read-comparison.ts";
import type { GridQuery } from "#perf/history/read-grid.ts";
import type { SeriesQuery } from "#perf/history/read-series.ts";
import type { StepsQuery } from "#perf/history/read-steps.ts";
import type { WordOfStep } from "#perf/history/say-of-step.ts";

/** What was measured: compared, along the line, and reported. */
export interface BenchmarkHistoryFarm {
  /** Undefined in place of the comparison: the asker has that of this key. */
  benchmarkComparison(
    query: ComparisonQuery,
    known: string | undefined,
  ): Promise<{ readonly key: string; readonly comparison: Comparison | undefined }>;
  benchmarkGraphs(query: GridQuery): Promise<SeriesGrid>;
  benchmarkSeries(query: SeriesQuery): Promise<Series>;
  /** How far each metric of a case strays by itself, by kind of machine. */
  benchmarkNoise(query: { readonly suite: string; readonly case: TestCase }): Promise<CaseNoise>;
  benchmarkSteps(query: StepsQuery): Promise<Steps>;
  sayOfBenchmarkStep(word: WordOfStep, by: Principal): Promise<ChangePointView>;
}
