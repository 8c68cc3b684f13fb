import { z } from "zod";
import type { Durations, GraphTimes, GroupTimes, TimesGrouping } from "#api/times.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import {
  durationsOf,
  type Measured,
  measuredGraphs,
  measuredRuns,
  shareWithin,
} from "./measured-runs.store.ts";

const mostGroups = 200;

const DurationsRow = z
  .object({
    count: z.number(),
    meanMs: z.number().nullable(),
    maxMs: z.number().nullable(),
    p: z.array(z.number().nullable()).nullable(),
  })
  .transform(({ p, ...row }): Durations => {
    const [p50Ms = null, p90Ms = null, p95Ms = null, p99Ms = null] = p ?? [];
    return { ...row, p50Ms, p90Ms, p95Ms, p99Ms };
  });

const RunsRow = z.object({
  isAll: z.boolean(),
  name: z.string().nullable(),
  wait: DurationsRow,
  run: DurationsRow,
  withinGoal: z.number().nullable(),
});

/** A value for all, and for each group. */
interface Grouped<T> {
  readonly all: T;
  readonly groups: readonly T[];
}

/** Returns how long runs waited and ran; the groups with the most runs first. */
export async function timesOfRuns(
  tx: Tx,
  of: Measured,
  group: TimesGrouping,
  goalSeconds: number,
): Promise<Grouped<GroupTimes>> {
  const rows = await tx.many(
    RunsRow,
    sql`
      with measured as materialized (${measuredRuns(of, group, sql`true`)})
      select grouping(name) = 1 as "isAll", name,
             ${durationsOf(sql`wait_ms`)} as wait, ${durationsOf(sql`run_ms`)} as run,
             ${shareWithin(sql`wait_ms`, goalSeconds * 1_000)} as "withinGoal"
      from measured
      group by grouping sets ((), (name))
      order by 1 desc, count(*) desc, name
      limit ${mostGroups + 1}
    `,
  );
  return grouped(
    rows.map(({ name, isAll, ...times }) => [isAll, { name: name ?? "", ...times }]),
    { name: "", wait: nothing, run: nothing, withinGoal: null },
  );
}

const GraphsRow = z.object({
  isAll: z.boolean(),
  name: z.string().nullable(),
  endToEnd: DurationsRow,
  firstFailure: DurationsRow,
  criticalPath: DurationsRow,
});

/** Returns how long graphs took, in total and by branch. */
export async function timesOfGraphs(
  tx: Tx,
  of: Measured,
  group: TimesGrouping,
): Promise<Grouped<GraphTimes>> {
  const rows = await tx.many(
    GraphsRow,
    sql`
      with measured as materialized (${measuredGraphs(of, group)})
      select grouping(name) = 1 as "isAll", name,
             ${durationsOf(sql`end_to_end_ms`)} as "endToEnd",
             ${durationsOf(sql`first_failure_ms`)} as "firstFailure",
             ${durationsOf(sql`critical_path_ms`)} as "criticalPath"
      from measured
      group by grouping sets ((), (name))
      order by 1 desc, count(*) desc, name
      limit ${mostGroups + 1}
    `,
  );
  const { all, groups } = grouped<GraphTimes>(
    rows.map(({ name, isAll, ...times }) => [isAll, { name: name ?? "", ...times }]),
    { name: "", endToEnd: nothing, firstFailure: nothing, criticalPath: nothing },
  );
  return { all, groups: group === "branch" ? groups : [] };
}

const nothing: Durations = {
  count: 0,
  meanMs: null,
  p50Ms: null,
  p90Ms: null,
  p95Ms: null,
  p99Ms: null,
  maxMs: null,
};

function grouped<T>(rows: readonly (readonly [isAll: boolean, times: T])[], none: T): Grouped<T> {
  return {
    all: rows.find(([isAll]) => isAll)?.[1] ?? none,
    groups: rows.filter(([isAll]) => !isAll).map(([, times]) => times),
  };
}
