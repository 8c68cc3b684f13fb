import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { isQueuedWith, namedJobs, WaitingJob } from "../expiry/waiting-job.store.ts";
import type { JobKey } from "../run.store.ts";
import type { WaitingOfKey } from "./choose-coalesced.ts";

const KeyRow = WaitingJob.extend({
  group: z.string(),
  committedMs: z.number(),
  graphNumber: z.number(),
  waitedMs: z.number(),
  minDepth: z.number(),
  minAgeMs: z.number(),
});
/** A job that waits, and may be coalesced. */
type CoalescibleJob = WaitingJob & WaitingOfKey;

/**
 * Jobs that wait for their start and may be coalesced, by repository, branch and key; at least two for each.
 *
 * A job that a person or a search requested or customised must run on its own commit. Commits that were submitted
 * without a branch are never coalesced.
 */
export async function coalescibleJobs(tx: Tx, now: Date): Promise<CoalescibleJob[][]> {
  const rows = await tx.many(
    KeyRow,
    sql`
      with waiting as (
        select job.graph_id, job.name, run.execution_id, graph.number, graph.committed_at, job.ready_at,
               job.coalesce_depth, job.coalesce_age_ms,
               jsonb_build_array(graph.repository, graph.branch, job.coalesce_key)::text as key,
               count(*) over (partition by graph.repository, graph.branch, job.coalesce_key) as together
        from job
        join graph on graph.id = job.graph_id
        left join run on run.graph_id = job.graph_id and run.job = job.name and run.number = job.runs
          and run.state = 'queued'
        where job.coalesce_key is not null and job.state in ('ready', 'queued')
          and coalesce(job.wanted, run.cause) in ('first', 'revive')
          and job.patch is null and graph.branch <> ''
      )
      select graph_id as "graphId", name as job, execution_id as "executionId", key as group,
             extract(epoch from committed_at)::double precision * 1000 as "committedMs", number as "graphNumber", coalesce_depth as "minDepth", coalesce_age_ms as "minAgeMs",
             greatest(0, extract(epoch from ${now}::timestamptz - ready_at) * 1000)::double precision as "waitedMs"
      from waiting
      where together > 1
    `,
  );
  const groups = new Map<string, CoalescibleJob[]>();
  for (const { group, ...row } of rows) {
    const jobs = groups.get(group);
    if (jobs === undefined) groups.set(group, [row]);
    else jobs.push(row);
  }
  return [...groups.values()];
}

const SetAsideJob = z.object({ graphId: WaitingJob.shape.graphId, job: z.string() });

/**
 * Marks older jobs as coalesced into a newer one that has not run yet.
 *
 * All their graphs are locked. Jobs in state `queued` only when their execution is among `unbegun`.
 */
export function setCoalescedAside(
  tx: Tx,
  into: JobKey,
  older: readonly WaitingJob[],
  unbegun: readonly ExecutionId[],
  now: Date,
): Promise<JobKey[]> {
  return tx.many(
    SetAsideJob,
    sql`
      with answer as (
        select job.graph_id, job.name, 'coalesced into ' || job.name || ' of ' || left(graph.commit, 10) as reason
        from job join graph on graph.id = job.graph_id
        where job.graph_id = ${into.graphId} and job.name = ${into.job}
          and job.state in ('ready', 'queued', 'running') and job.patch is null
      ),
      coalesced as (
        update job
        set wanted = null, expires_at = null, set_aside = 'coalesced', reason = answer.reason,
            coalesced_graph = answer.graph_id, coalesced_job = answer.name
        from ${namedJobs(older)} as named (graph_id, name), answer
        where job.graph_id = named.graph_id and job.name = named.name and job.patch is null
          and (job.state = 'ready' or ${isQueuedWith(unbegun)})
        returning job.graph_id, job.name, job.runs, job.reason
      ),
      ended as (
        update run
        set state = 'finished', outcome = 'cancelled', finished_at = ${now}, message = coalesced.reason
        from coalesced
        where run.graph_id = coalesced.graph_id and run.job = coalesced.name
          and run.number = coalesced.runs and run.state = 'queued'
      )
      select graph_id as "graphId", name as job from coalesced
    `,
  );
}
