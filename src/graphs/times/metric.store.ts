import { z } from "zod";
import { type MetricDefinition, MetricMeasure, TimesGrouping } from "#api/times.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const MetricRow = z
  .object({
    name: z.string(),
    measure: MetricMeasure,
    percentile: z.number().nullable(),
    withinSeconds: z.number().nullable(),
    goal: z.number().nullable(),
    group: TimesGrouping.nullable(),
    filter: z.string(),
    windowSeconds: z.number(),
    ofRecord: z.boolean(),
  })
  .transform(({ percentile, withinSeconds, goal, ...row }): MetricDefinition => {
    // The table's constraints allow exactly one of the two to be null.
    if (percentile !== null) return { ...row, figure: { kind: "percentile", percentile } };
    return { ...row, figure: { kind: "share", withinSeconds: withinSeconds ?? 0, goal } };
  });

/** Returns all metrics by name, the one of record first. */
export function metricDefinitions(tx: Tx): Promise<MetricDefinition[]> {
  return tx.many(
    MetricRow,
    sql`
      select name, measure, percentile, within_seconds as "withinSeconds", goal, group_by as group, filter,
             window_seconds as "windowSeconds", of_record as "ofRecord"
      from metric_definition
      order by of_record desc, name
    `,
  );
}

/** Stores a metric; replaces one with the same name. */
export async function keepMetric(tx: Tx, metric: MetricDefinition): Promise<void> {
  const { figure } = metric;
  if (metric.ofRecord) {
    await tx.run(
      sql`update metric_definition set of_record = false where of_record and name <> ${metric.name}`,
    );
  }
  await tx.run(sql`
    insert into metric_definition
      (name, measure, percentile, within_seconds, goal, group_by, filter, window_seconds, of_record)
    values (${metric.name}, ${metric.measure}, ${figure.kind === "percentile" ? figure.percentile : null},
            ${figure.kind === "share" ? figure.withinSeconds : null},
            ${figure.kind === "share" ? figure.goal : null}, ${metric.group}, ${metric.filter},
            ${metric.windowSeconds}, ${metric.ofRecord})
    on conflict (name) do update
    set measure = excluded.measure, percentile = excluded.percentile,
        within_seconds = excluded.within_seconds, goal = excluded.goal, group_by = excluded.group_by,
        filter = excluded.filter, window_seconds = excluded.window_seconds, of_record = excluded.of_record
  `);
}
