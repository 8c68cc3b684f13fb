import type { Db } from "#db/db.ts";
import { granaryFigures, quarantineCounts } from "#granaries/granary-figures.store.ts";
import type { MetricFamily } from "./http/metrics-text.ts";
import { gauge } from "./metric-family.ts";

const dayMs = 24 * 60 * 60_000;

/** Returns the metrics that builds behind granaries reported: the sources of their results. */
export async function granaryFamilies(db: Db, now: Date): Promise<MetricFamily[]> {
  const [figures, doubted] = await Promise.all([
    granaryFigures(db, new Date(now.getTime() - dayMs)),
    quarantineCounts(db),
  ]);
  return [
    gauge(
      "grange_granary_results",
      figures.flatMap(({ project, results }) =>
        Object.entries(results).map(([source, value]) => ({ labels: { project, source }, value })),
      ),
    ),
    gauge(
      "grange_granary_saved_seconds",
      figures.map(({ project, savedMs }) => ({ labels: { project }, value: savedMs / 1_000 })),
    ),
    gauge(
      "grange_granary_fetched_ahead_bytes",
      figures.map(({ project, transferredBytes }) => ({
        labels: { project },
        value: transferredBytes,
      })),
    ),
    gauge(
      "grange_granary_lead_seconds",
      figures.flatMap(({ project, leadMs }) =>
        leadMs === null ? [] : [{ labels: { project }, value: leadMs / 1_000 }],
      ),
    ),
    gauge(
      "grange_granary_wasted_bytes",
      figures.map(({ project, wastedBytes }) => ({ labels: { project }, value: wastedBytes })),
    ),
    gauge(
      "grange_quarantined_results",
      doubted.map(({ project, count }) => ({ labels: { project }, value: count })),
    ),
  ];
}
