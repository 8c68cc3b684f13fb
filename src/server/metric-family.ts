import type { MetricFamily } from "./http/metrics-text.ts";
import { type LabelsOf, type MetricName, metricTable, type NameOfKind } from "./metric-table.ts";

/** A value of a metric; with all labels of the table, or without any if the metric has none. */
type SampleOf<Name extends MetricName> = keyof LabelsOf<Name> extends never
  ? { readonly value: number }
  : { readonly labels: LabelsOf<Name>; readonly value: number };

/** Returns a gauge of the table with its samples. */
export function gauge<Name extends NameOfKind<"gauge">>(
  name: Name,
  samples: readonly SampleOf<Name>[],
): MetricFamily {
  return { kind: "gauge", name, help: metricTable[name].help, samples };
}

/** Returns a counter of the table with its samples. */
export function counter<Name extends NameOfKind<"counter">>(
  name: Name,
  samples: readonly SampleOf<Name>[],
): MetricFamily {
  return { kind: "counter", name, help: metricTable[name].help, samples };
}

/** Returns a histogram of the table with its buckets. */
export function histogram(
  name: NameOfKind<"histogram">,
  figures: Pick<Extract<MetricFamily, { kind: "histogram" }>, "buckets" | "count" | "sum">,
): MetricFamily {
  return { kind: "histogram", name, help: metricTable[name].help, ...figures };
}
