import type { Principal } from "#access/principal.ts";
import type { MetricDefinition, MetricValue, Times, TimesGrouping } from "#api/times.ts";
import type { MetricFamily } from "./metrics-text.ts";

export interface TimesQuery {
  readonly repository: string | undefined;
  readonly branch: string | undefined;
  readonly group: TimesGrouping;
  readonly windowMs: number;
}

/** How long people wait: for a start, for an end, for the first bad news. */
export interface TimesFarm {
  times(query: TimesQuery): Promise<Times>;
  metrics(): Promise<MetricDefinition[]>;
  /** Undefined when there is no such metric. */
  metric(name: string): Promise<MetricValue | undefined>;
  setMetric(metric: MetricDefinition, by: Principal): Promise<MetricValue>;
  /** For scrapers. */
  metricFamilies(): Promise<MetricFamily[]>;
}
