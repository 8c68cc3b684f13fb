import { z } from "zod";
import { RunCause } from "#api/graph.ts";
import { CommitSha } from "#core/commit-sha.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import {
  firstRunsRequested,
  waitsForItsInputs,
} from "./approximations/waiting-for-inputs.store.ts";
import { GraphId } from "./graph-id.ts";

const ReadyJob = z.object({
  graphId: GraphId,
  job: z.string(),
  /** It waits only for the job that finds its inputs; its result may be known without them. */
  isBlocked: z.boolean(),
  /**
   * Identifies this assignment; a later assignment makes the results of this preparation invalid.
   */
  epoch: z.number(),
  failures: z.number(),
  /** The number of its runs that ended because the store had lost inputs. */
  inputLosses: z.number(),
  cause: RunCause,
  definition: z.custom<JobDefinition>((body) => typeof body === "object"),
  repository: z.string(),
  branch: z.string(),
  url: z.string(),
  commit: CommitSha,
  /** Where its inputs, outputs and results are. */
  project: z.string(),
  domain: TrustDomain,
  skipCache: z.boolean(),
  /** The submitter of the graph. */
  submittedBy: z.string(),
  /** Jobs with a higher priority start first: the sum of the graph's and the job's own, within the cap. */
  priority: z.number(),
  /** Whether it is in the top class, which nothing overtakes. */
  top: z.boolean(),
  /** The trace of the graph; null when it is not traced. */
  traceId: z.string().nullable(),
  /** The jobs that it waited for, and the run of each that it uses. */
  inputRuns: z.record(z.string(), z.number()),
  /** Those jobs whose outputs may be missing: they were waived, or skipped as good. */
  goesWithout: z.array(z.string()),
});
/** A job whose action is to be prepared, with everything that the preparation needs. */
export type ReadyJob = z.infer<typeof ReadyJob>;

/**
 * Takes ready jobs that need a machine for preparation, the longest ready first; and jobs whose inputs only have to be
 * found. A finder is left alone until it is known whether its result is needed.
 *
 * The right expires: if a server stops, another one takes its jobs.
 */
export function takeReadyJobs(tx: Tx, most: number, leaseSeconds: number): Promise<ReadyJob[]> {
  return tx.many(
    ReadyJob,
    sql`
      with ready as (
        select graph_id, name from job
        where state = 'ready' and kind in ('command', 'graph') and not outside
          and (preparing_until is null or preparing_until <= now())
          and not (runs = 0 and wanted in ${firstRunsRequested} and exists (
            select from job as waiting
            where waiting.graph_id = job.graph_id and waiting.finder = job.name and ${waitsForItsInputs}
          ))
        order by ready_at, graph_id, name
        limit ${most}
        for update skip locked
      ),
      blocked as (
        select graph_id, name from job as waiting
        where ${waitsForItsInputs}
          and (preparing_until is null or preparing_until <= now())
        limit ${most}
        for update skip locked
      ),
      picked as (
        select graph_id, name from blocked
        union all
        select graph_id, name from ready
      ),
      taken as (
        update job
        set preparing_until = now() + make_interval(secs => ${leaseSeconds}),
            preparing_epoch = preparing_epoch + 1
        from picked
        where job.graph_id = picked.graph_id and job.name = picked.name
        returning job.graph_id, job.name, job.state = 'blocked' as is_blocked, job.preparing_epoch, job.preparing_failures, job.input_losses, job.wanted, job.definition,
                  job.priority
      )
      select taken.graph_id as "graphId", taken.name as job, taken.is_blocked as "isBlocked", taken.preparing_epoch as epoch,
             taken.preparing_failures as failures, taken.input_losses as "inputLosses", taken.wanted as cause, definition.body as definition,
             graph.repository, graph.branch, repository.url, graph.commit, graph.project, graph.domain, graph.skip_cache as "skipCache",
             graph.submitted_by as "submittedBy",
             -- least() passes over the null of no cap.
             least(graph.priority + taken.priority, graph.priority_cap) as priority, graph.top,
             (select trace_id from graph_span where graph_span.graph_id = graph.id) as "traceId",
             coalesce((
               select jsonb_object_agg(source.name, source.runs)
               from edge join job as source on source.graph_id = edge.graph_id and source.name = edge.on_job
               where edge.graph_id = taken.graph_id and edge.job = taken.name and source.runs > 0
             ), '{}') as "inputRuns",
             array(
               select source.name
               from edge join job as source on source.graph_id = edge.graph_id and source.name = edge.on_job
               where edge.graph_id = taken.graph_id and edge.job = taken.name
                 and (edge.waived_by is not null or source.set_aside = 'expired-good')
             ) as "goesWithout"
      from taken
      join definition on definition.digest = taken.definition
      join graph on graph.id = taken.graph_id
      join repository on repository.name = graph.repository
    `,
  );
}

type Taken = Pick<ReadyJob, "graphId" | "job" | "epoch">;

/** The priority of a job: the sum of the graph's and the job's own, within the cap. */
export type JobUrgency = Pick<ReadyJob, "priority" | "top">;

/** Returns the jobs that are still ready and still have these epochs, with their current priority. */
export async function stillTaken(
  tx: Tx,
  jobs: readonly Taken[],
): Promise<ReadonlyMap<string, JobUrgency>> {
  const rows = await tx.many(
    ReadyJob.pick({ graphId: true, job: true, epoch: true, priority: true, top: true }),
    sql`
      select job.graph_id as "graphId", job.name as job, job.preparing_epoch as epoch,
        least(graph.priority + job.priority, graph.priority_cap) as priority, graph.top
      from job
      join graph on graph.id = job.graph_id
      join unnest(${jobs.map((job) => job.graphId)}::uuid[], ${jobs.map((job) => job.job)}::text[],
                  ${jobs.map((job) => job.epoch)}::bigint[]) as t (graph_id, name, epoch)
        on t.graph_id = job.graph_id and t.name = job.name and t.epoch = job.preparing_epoch
      where job.state = 'ready'
    `,
  );
  return new Map(rows.map((row) => [takenKey(row), row]));
}

export function takenKey({ graphId, job, epoch }: Taken): string {
  return `${graphId} ${epoch} ${job}`;
}

/** Extends the right to jobs whose preparation takes long. */
export async function keepTaken(
  tx: Tx,
  jobs: readonly Taken[],
  leaseSeconds: number,
): Promise<void> {
  await tx.run(sql`
    update job
    set preparing_until = now() + make_interval(secs => ${leaseSeconds})
    from unnest(${jobs.map((job) => job.graphId)}::uuid[], ${jobs.map((job) => job.job)}::text[],
                ${jobs.map((job) => job.epoch)}::bigint[]) as t (graph_id, name, epoch)
    where job.graph_id = t.graph_id and job.name = t.name and job.preparing_epoch = t.epoch
      and job.state = 'ready'
  `);
}

/**
 * Returns a job after a failure of the server; it is taken again after a pause.
 *
 * This ends its assignment, so renewing the leases of the other jobs of the round does not change its time. Its page
 * shows why it waits; otherwise a farm with a full disk would look idle.
 */
export async function postponeJob(
  tx: Tx,
  { graphId, job, epoch }: Taken,
  seconds: number,
  why: string,
): Promise<void> {
  const reason = `cannot be prepared, trying again: ${why}`.slice(0, 1_000);
  await tx.run(sql`
    with changed as (
      update graph set version = version + 1
      where id = ${graphId} and exists (
        select from job
        where graph_id = ${graphId} and name = ${job} and preparing_epoch = ${epoch} and state = 'ready')
      returning version
    )
    update job
    set preparing_until = now() + make_interval(secs => ${seconds}),
        preparing_epoch = preparing_epoch + 1,
        preparing_failures = preparing_failures + 1,
        reason = ${reason}, version = changed.version
    from changed
    where graph_id = ${graphId} and name = ${job} and preparing_epoch = ${epoch} and state = 'ready'
  `);
  await tx.run(sql`select pg_notify('grange_graph', ${graphId}::text)`);
}
