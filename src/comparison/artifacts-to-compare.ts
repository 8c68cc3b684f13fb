import type { Metric } from "#core/benchmark-metric.ts";
import type { TestCase } from "#core/test-case.ts";
import type { MeasuredCase, PairedCase } from "./measured.ts";

/** A benchmark that failed; the whole job failed when `benchmark` is empty. */
export interface BenchmarkFailure {
  readonly benchmark: string;
  /** `caseKey` of the case, null when the whole benchmark failed. */
  readonly case: string | null;
  readonly message: string;
}
export interface ArtifactsToCompare {
  /** All metrics of the suite. */
  readonly metrics: readonly Metric[];
  /** Only cases of this metric; undefined: of all metrics. Summaries always cover all metrics. */
  readonly metric: string | undefined;
  /** Newest first: of several fingerprints of one case, the first one that both sides have is used. */
  readonly before: readonly MeasuredCase[];
  readonly after: readonly MeasuredCase[];
  categoryOf(testCase: TestCase): "primary" | "secondary";
  /** Values of main-line predecessors of `before`, newest first, without those before an accepted step. */
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
