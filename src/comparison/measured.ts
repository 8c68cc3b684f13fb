import type { MetricValues } from "#core/benchmark-metric.ts";
import type { TestCase } from "#core/test-case.ts";

/** The figures of one test for a comparison: the least value of each metric over its iterations. */
export interface MeasuredCase {
  readonly case: TestCase;
  /** Results are compared only with results that have the same fingerprint. */
  readonly fingerprint: string;
  readonly collector: string;
  readonly values: MetricValues;
  /** The variation between iterations, (greatest - least) / least; absent when fewer than two measured the metric. */
  readonly scatter: MetricValues;
  readonly warnings: readonly string[];
}

/** Interleaved processes of child and parent, measured within one lease. */
export interface PairedCase {
  readonly case: TestCase;
  readonly fingerprint: string;
  readonly collector: string;
  /** `confirm`: an independent rerun, in its own lease. */
  readonly purpose: "paired" | "confirm";
  readonly pairs: readonly {
    readonly child: MetricValues;
    readonly parent: MetricValues;
    readonly parentFirst: boolean;
  }[];
}
