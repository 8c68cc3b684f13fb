import { z } from "zod";
import { parseSelection } from "#api/selection/parse-selection.ts";
import type { MetricDefinition, MetricValue } from "#api/times.ts";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";
import { type Measured, measuredGraphs, measuredRuns, shareWithin } from "./measured-runs.store.ts";
import { selectedJobs } from "./selected-jobs.store.ts";

const ValueRow = z.object({
  isAll: z.boolean(),
  name: z.string().nullable(),
  value: z.number().nullable(),
  count: z.number(),
});

/** Returns the value of a metric at a time. It is computed from runs, so a new metric has values for the past, too. */
export async function metricValue(
  tx: Tx,
  metric: MetricDefinition,
  now: Date,
): Promise<MetricValue> {
  const { measured, ms } = source(metric, {
    from: new Date(now.getTime() - metric.windowSeconds * 1_000),
    until: now,
  });
  const rows = await tx.many(
    ValueRow,
    sql`
      with measured as materialized (${measured})
      select grouping(name) = 1 as "isAll", name, ${figure(metric, ms)} as value, count(${ms}) as count
      from measured
      group by grouping sets ((), (name))
      order by 1 desc, count(*) desc, name
      limit 201
    `,
  );
  const all = rows.find(({ isAll }) => isAll);
  const value = all?.value ?? null;
  return {
    metric,
    value,
    count: all?.count ?? 0,
    groups: rows
      .filter(({ isAll }) => !isAll && metric.group !== null)
      .map(({ name, value: own, count }) => ({ name: name ?? "", value: own, count })),
    goalMet:
      metric.figure.kind === "share" && metric.figure.goal !== null && value !== null
        ? value >= metric.figure.goal
        : null,
  };
}

function source(
  { measure, group, filter }: MetricDefinition,
  of: Measured,
): { readonly measured: Sql; readonly ms: Sql } {
  const runs = () =>
    measuredRuns(of, group, filter === "" ? sql`true` : selectedJobs(parseSelection(filter)));
  switch (measure) {
    case "wait":
      return { measured: runs(), ms: sql`wait_ms` };
    case "run":
      return { measured: runs(), ms: sql`run_ms` };
    case "end-to-end":
      return { measured: measuredGraphs(of, group), ms: sql`end_to_end_ms` };
    case "first-failure":
      return { measured: measuredGraphs(of, group), ms: sql`first_failure_ms` };
    case "critical-path":
      return { measured: measuredGraphs(of, group), ms: sql`critical_path_ms` };
  }
}

function figure(metric: MetricDefinition, ms: Sql): Sql {
  switch (metric.figure.kind) {
    case "percentile":
      return sql`percentile_cont(${metric.figure.percentile / 100}::double precision) within group (order by ${ms})`;
    case "share":
      return shareWithin(ms, metric.figure.withinSeconds * 1_000);
  }
}
