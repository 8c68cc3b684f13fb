import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { GraphId } from "../graph-id.ts";

const SeriesRow = z.object({ graphId: GraphId, job: z.string() });

/** A run that has ended. If its end was requested, its series ends too. */
interface EndedRun extends z.infer<typeof SeriesRow> {
  readonly isLast: boolean;
}

/**
 * Counts ended runs towards the series that they belong to, and requests the next run of each.
 *
 * Returns the jobs that were in a series. These are not retried automatically, whatever the outcome, because a series
 * is meant to show exactly these outcomes. The graphs are locked.
 */
export function continueSeries(
  tx: Tx,
  ended: readonly EndedRun[],
): Promise<z.infer<typeof SeriesRow>[]> {
  return tx.many(
    SeriesRow,
    sql`
      update job
      set runs_left = case when e.last then 0 else job.runs_left - 1 end,
          wanted = case when goes_on then 'retrigger' else job.wanted end,
          wanted_at = case when goes_on then now() else job.wanted_at end,
          wanted_why = case when goes_on
            then format('run %s of %s, one after the other, for %s',
                        job.runs_asked - job.runs_left + 2, job.runs_asked, job.wanted_by)
            else job.wanted_why end,
          expires_at = case when goes_on
            then now() + make_interval(secs => job.ttl_ms / 1000.0) else job.expires_at end
      from unnest(${ended.map(({ graphId }) => graphId)}::uuid[],
                  ${ended.map(({ job }) => job)}::text[],
                  ${ended.map(({ isLast }) => isLast)}::boolean[]) as e (graph_id, name, last)
      join job as old on old.graph_id = e.graph_id and old.name = e.name
      cross join lateral (select not e.last and old.runs_left > 1 as goes_on) as next
      where job.graph_id = e.graph_id and job.name = e.name and job.runs_left > 0
      returning job.graph_id as "graphId", job.name as job
    `,
  );
}

/**
 * Requests further runs of jobs after the present one. The graph is locked.
 *
 * The present run becomes the first of a series, or its series becomes longer. The plan was made under the same lock,
 * so each job still has a run.
 */
export async function prolongSeries(
  tx: Tx,
  graphId: GraphId,
  jobs: readonly { readonly job: string; readonly times: number }[],
  by: string,
): Promise<void> {
  if (jobs.length === 0) return;
  await tx.run(sql`
    update job
    set runs_asked = case when job.runs_left > 0 then job.runs_asked else 1 end + p.times,
        runs_left = case when job.runs_left > 0 then job.runs_left else 1 end + p.times,
        wanted_by = ${by}
    from jsonb_to_recordset(${JSON.stringify(jobs)}::jsonb) as p (job text, times integer)
    where job.graph_id = ${graphId} and job.name = p.job and job.state in ('queued', 'running')
  `);
}
