import type { Metric } from "#core/benchmark-metric.ts";
import type { TestCase } from "#core/test-case.ts";
import type { MeasuredCase, PairedCase } from "./measured.ts";

/** A benchmark that failed; of the whole job where `benchmark` is empty. */
export interface BenchmarkFailure {
  readonly benchmark: string;
  /** `caseKey` of the case, null where the failure is of the whole benchmark. */
  readonly case: string | null;
  readonly message: string;
}
export interface ArtifactsToCompare {
  /** All metrics of the suite. */
  readonly metrics: readonly Metric[];
  /** Cases of this metric only; undefined: of all. Summaries are of all metrics either way. */
  readonly metric: string | undefined;
  /** Newest first: of several fingerprints of one case, the first that both have is taken. */
  readonly before: readonly MeasuredCase[];
  readonly after: readonly MeasuredCase[];
  categoryOf(testCase: TestCase): "primary" | "secondary";
  /** Values of main-line predecessors of `before`, newest first, those before an accepted step already cut off. */
  historyOf(testCase: TestCase, metric: string, fingerprint: string): readonly number[];
  readonly pairs: readonly PairedCase[];
  /** The 95th percentile of |change| in A/A comparisons; undefined when unknown. */
  limitOf(testCase: TestCase, metric: string, fingerprint: string): number | undefined;
  readonly errors: {
    readonly before: readonly BenchmarkFailure[];
    readonly after: readonly BenchmarkFailure[];
  };
  /** The suite's rounds of pairs. */
  readonly rounds?: readonly number[];
}
