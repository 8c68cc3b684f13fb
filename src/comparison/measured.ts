import type { MetricValues } from "#core/benchmark-metric.ts";
import type { TestCase } from "#core/test-case.ts";

/** The figures of one test for a comparison: the least value of each metric over its iterations. */
export interface MeasuredCase {
  readonly case: TestCase;
  /** Results are compared with results of equal fingerprint, and no others. */
  readonly fingerprint: string;
  readonly collector: string;
  readonly values: MetricValues;
  /** How far iterations lie apart, (greatest - least) / least; not there where fewer than two took the metric. */
  readonly scatter: MetricValues;
  readonly warnings: readonly string[];
}

/** Interleaved processes of child and parent, taken within one lease. */
export interface PairedCase {
  readonly case: TestCase;
  readonly fingerprint: string;
  readonly collector: string;
  /** `confirm`: an independent rerun, in a lease of its own. */
  readonly purpose: "paired" | "confirm";
  readonly pairs: readonly {
    readonly child: MetricValues;
    readonly parent: MetricValues;
    readonly parentFirst: boolean;
  }[];
}
