import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { GraphId } from "../graph-id.ts";
import { isQueuedWith, namedJobs, WaitingJob } from "./waiting-job.store.ts";

/** Returns jobs that wait for their start beyond their time to live, the longest expired first. */
export function jobsToExpire(tx: Tx, now: Date, most: number): Promise<WaitingJob[]> {
  return tx.many(
    WaitingJob,
    sql`
      select job.graph_id as "graphId", job.name as job, run.execution_id as "executionId"
      from job
      left join run on run.graph_id = job.graph_id and run.job = job.name and run.number = job.runs
        and run.state = 'queued'
      where job.expires_at is not null and job.state in ('blocked', 'ready', 'queued')
        and job.expires_at <= ${now}
      order by job.expires_at
      limit ${most}
    `,
  );
}

const ExpiredJob = z.object({ graphId: GraphId, job: z.string() });

/**
 * Sets aside those of the jobs that still wait, each with the reason of its wait.
 *
 * Their graphs are locked. Jobs in state `queued` expire only when their execution is among `unbegun`: a worker may
 * have taken it in the meantime. Their runs end as cancelled. A ready job without an execution gets a cancelled run,
 * too: it waited for a worker like the queued ones, and statistics of waiting read runs.
 */
export function setExpiredAside(
  tx: Tx,
  jobs: readonly WaitingJob[],
  unbegun: readonly ExecutionId[],
  now: Date,
): Promise<z.infer<typeof ExpiredJob>[]> {
  return tx.many(
    ExpiredJob,
    sql`
      with ready as materialized (
        select job.graph_id, job.name, job.wanted
        from ${namedJobs(jobs)} as named (graph_id, name)
        join job on job.graph_id = named.graph_id and job.name = named.name
        where job.expires_at <= ${now} and job.state = 'ready' and job.kind in ('command', 'graph')
          and not job.outside
      ),
      expired as (
        update job
        set wanted = null, expires_at = null,
            runs = job.runs + (exists (
              select from ready where ready.graph_id = job.graph_id and ready.name = job.name))::integer,
            set_aside = case job.on_expiry
              when 'skip-good' then 'expired-good' when 'skip-bad' then 'expired-bad' else 'expired-failed' end,
            reason = 'waited longer than ' || ${shortDuration} || ' for its start'
        from ${namedJobs(jobs)} as named (graph_id, name)
        where job.graph_id = named.graph_id and job.name = named.name
          and job.expires_at <= ${now}
          and (job.state in ('blocked', 'ready') or ${isQueuedWith(unbegun)})
        returning job.graph_id, job.name, job.runs, job.reason, job.wanted_by, job.wanted_why,
          job.wanted_at, job.ready_at
      ),
      never_queued as (
        insert into run (graph_id, job, number, cause, served_by, state, outcome, message,
                         asked_by, why, wanted_at, ready_at, finished_at)
        select graph_id, name, expired.runs, ready.wanted, 'execution', 'finished', 'cancelled',
               expired.reason, wanted_by, wanted_why, wanted_at, ready_at, ${now}
        from expired join ready using (graph_id, name)
      ),
      ended as (
        update run
        set state = 'finished', outcome = 'cancelled', finished_at = ${now}, message = expired.reason
        from expired
        where run.graph_id = expired.graph_id and run.job = expired.name and run.number = expired.runs
          and run.state = 'queued'
      )
      select graph_id as "graphId", name as job from expired
    `,
  );
}

/** `job.ttl_ms` approximately as people write it: 90s, 15m, 2h, 1h 30m, 3d. */
const shortDuration = sql`
  (select string_agg(part, ' ') from unnest(array[
    nullif(job.ttl_ms / 86400000, 0) || 'd', nullif(job.ttl_ms / 3600000 % 24, 0) || 'h',
    nullif(job.ttl_ms / 60000 % 60, 0) || 'm', nullif(job.ttl_ms / 1000 % 60, 0) || 's']) as part)
`;
