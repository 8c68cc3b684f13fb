import type { TimesGrouping } from "#api/times.ts";
import { type Sql, sql } from "#db/sql.ts";

/** Selects the runs and graphs that are measured. */
export interface Measured {
  readonly repository?: string | undefined;
  readonly branch?: string | undefined;
  /** Runs that ended after `from`, until `until`. */
  readonly from: Date;
  readonly until: Date;
}

/** Returns the columns for durations in a query; `ms` is a column or an expression. */
export function durationsOf(ms: Sql): Sql {
  return sql`json_build_object(
    'count', count(${ms}), 'meanMs', avg(${ms}), 'maxMs', max(${ms}),
    'p', percentile_cont(array[0.5, 0.9, 0.95, 0.99]::double precision[]) within group (order by ${ms}))`;
}

/**
 * Runs with their waiting and running times: `name`, `wait_ms`, `run_ms`, `is_open`.
 *
 * Blocked time is in neither: the wait begins when nothing prevents the run any more. It ends when the run starts; when
 * it ends without a start, cancelled or expired; or at the end of the window when it still waits (`is_open`), so that
 * runs that no worker ever takes are visible. The same holds for a ready job without a run. Only runs that wait for
 * workers count; a breakpoint's run waits for a person, and a cache hit for nothing.
 */
export function measuredRuns(of: Measured, group: TimesGrouping | null, which: Sql): Sql {
  const runs = (name: Sql) => sql`
    select ${name} as name,
           greatest(0, extract(epoch from coalesce(run.started_at, run.finished_at, ${of.until}) - run.ready_at) * 1000)
             ::double precision as wait_ms,
           case when run.started_at is not null
             then greatest(0, extract(epoch from run.finished_at - run.started_at) * 1000)::double precision
           end as run_ms,
           run.state = 'queued' as is_open
    from (
      select ${columnsOfRun} from run
      where run.state = 'finished' and run.finished_at > ${of.from} and run.finished_at <= ${of.until}
        and (run.started_at is not null or (run.outcome = 'cancelled' and run.ready_at is not null))
      union all
      select ${columnsOfRun} from run
      where run.state <> 'finished' and run.state = 'queued' and run.ready_at <= ${of.until}
      union all
      select graph_id, name, 'queued', 'execution', ready_at, null, null from job
      where state = 'ready' and kind in ('command', 'graph') and not outside and ready_at <= ${of.until}
    ) as run
    join graph on graph.id = run.graph_id
    join job on job.graph_id = run.graph_id and job.name = run.job
    where run.served_by in ('execution', 'items')
      and (${of.repository === undefined} or graph.repository = ${of.repository ?? null})
      and (${of.branch === undefined} or graph.branch = ${of.branch ?? null})
      and ${which}
  `;
  switch (group) {
    case null:
      return runs(sql`''`);
    case "branch":
      return runs(sql`graph.branch`);
    case "kind":
      return runs(sql`coalesce(job.tags ->> 'kind', job.kind)`);
    case "pool":
      return byPool(runs(sql`job.definition`));
  }
}

const columnsOfRun = sql`
  run.graph_id, run.job, run.state, run.served_by, run.ready_at, run.started_at, run.finished_at
`;

/**
 * Returns the share of measurements within a time. A run that still waits, but not longer than that time, is undecided.
 */
export function shareWithin(ms: Sql, withinMs: number): Sql {
  return sql`(count(*) filter (where ${ms} <= ${withinMs} and not is_open))::double precision
    / nullif(count(${ms}) filter (where not is_open or ${ms} > ${withinMs}), 0)`;
}

/**
 * Returns a readable name of the runs' requirements, which is the same for equal requirements. Each definition is read
 * once.
 */
function byPool(runs: Sql): Sql {
  return sql`
    with by_definition as materialized (${runs}),
    pool as materialized (
      select digest, coalesce((
        select string_agg(asked.key || '=' || asked.value, ', ' order by asked.key)
        from jsonb_each_text(body -> 'platform') as asked), 'any worker') as name
      from definition
      where digest in (select distinct name from by_definition)
    )
    select pool.name, wait_ms, run_ms, is_open
    from by_definition join pool on pool.digest = by_definition.name
  `;
}

/** Graphs with their times: `name`, and three columns of ms. */
export function measuredGraphs(of: Measured, group: TimesGrouping | null): Sql {
  return sql`
    select ${group === "branch" ? sql`graph.branch` : sql`''`} as name, end_to_end_ms, first_failure_ms, critical_path_ms,
           false as is_open
    from graph_times
    join graph on graph.id = graph_times.graph_id
    where ended_at > ${of.from} and ended_at <= ${of.until}
      and (${of.repository === undefined} or graph.repository = ${of.repository ?? null})
      and (${of.branch === undefined} or graph.branch = ${of.branch ?? null})
  `;
}
