import type { MetricValues } from "#core/benchmark-metric.ts";

/** One iteration: the available figures of its counted process and its timed one. */
export interface MeasuredIteration {
  /** From 1. */
  readonly iteration: number;
  readonly values: MetricValues;
  /** The reasons to doubt the figures, as short sentences. */
  readonly warnings: string[];
}

/** A process of the child and a process of the parent that ran directly one after the other. */
export interface MeasuredPair {
  /** From 1. */
  readonly pair: number;
  readonly parentFirst: boolean;
  readonly child: MetricValues;
  readonly parent: MetricValues;
}
