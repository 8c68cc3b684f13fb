import type { Db } from "#db/db.ts";
import { granaryFigures, quarantineCounts } from "#granaries/granary-figures.store.ts";
import type { MetricFamily } from "./http/metrics-text.ts";

const dayMs = 24 * 60 * 60_000;

/** Returns the metrics that builds behind granaries reported: the sources of their results. */
export async function granaryFamilies(db: Db, now: Date): Promise<MetricFamily[]> {
  const [figures, doubted] = await Promise.all([
    granaryFigures(db, new Date(now.getTime() - dayMs)),
    quarantineCounts(db),
  ]);
  return [
    {
      kind: "gauge",
      name: "grange_granary_results",
      help: "What builds behind granaries asked for within 24 hours, by where it came from.",
      samples: figures.flatMap(({ project, results }) =>
        Object.entries(results).map(([source, value]) => ({ labels: { project, source }, value })),
      ),
    },
    {
      kind: "gauge",
      name: "grange_granary_saved_seconds",
      help: "What making these had taken, as far as it is known.",
      samples: figures.map(({ project, savedMs }) => ({
        labels: { project },
        value: savedMs / 1_000,
      })),
    },
    {
      kind: "gauge",
      name: "grange_granary_fetched_ahead_bytes",
      help: "What was fetched ahead within 24 hours.",
      samples: figures.map(({ project, transferredBytes }) => ({
        labels: { project },
        value: transferredBytes,
      })),
    },
    {
      kind: "gauge",
      name: "grange_granary_lead_seconds",
      help: "How long before they were asked for such results were there: the median of builds' medians.",
      samples: figures.flatMap(({ project, leadMs }) =>
        leadMs === null ? [] : [{ labels: { project }, value: leadMs / 1_000 }],
      ),
    },
    {
      kind: "gauge",
      name: "grange_granary_wasted_bytes",
      help: "Of what was fetched ahead, what nobody asked for.",
      samples: figures.map(({ project, wastedBytes }) => ({
        labels: { project },
        value: wastedBytes,
      })),
    },
    {
      kind: "gauge",
      name: "grange_quarantined_results",
      help: "Results that came out otherwise when they were made again, and are given to nobody.",
      samples: doubted.map(({ project, count }) => ({ labels: { project }, value: count })),
    },
  ];
}
