import type { Metric } from "#core/benchmark-metric.ts";
import type { Suite } from "./suite.ts";

/** Returns the suite's metrics: the headline, then those that decide, then the rest; each group by name. */
export function metricsOf(suite: Suite): Metric[] {
  const rank = ({ name, decides }: Metric) => (name === suite.headline ? 0 : decides ? 1 : 2);
  return Object.entries(suite.metrics)
    .map(([name, { nature, unit, better, decides }]) => ({ name, nature, unit, better, decides }))
    .toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}
