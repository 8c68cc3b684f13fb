import { z } from "zod";
import { RunOutcome } from "#api/graph.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { GraphId } from "./graph-id.ts";

const isoTime = z.date().transform((date) => date.toISOString());

const FailedJob = z.object({
  job: z.string(),
  because: z.string().nullable(),
  run: z.number(),
  outcome: RunOutcome.nullable(),
  exitCode: z.number().nullable(),
  message: z.string().nullable(),
  executionId: z.string().nullable(),
  /** It was served by an execution, or by an earlier result: there is a log. */
  hasLog: z.boolean(),
  /** For a job whose items share batches, each with a log: a batch with an item that failed. */
  failedBatch: z.number().nullable(),
  flaky: z.boolean(),
});
type FailedJob = z.infer<typeof FailedJob>;

/**
 * Returns failed jobs of a graph, first those that no other failed job precedes, and then the earliest; with `job` only
 * this one.
 */
export function failedJobsOf(
  tx: Tx,
  id: GraphId,
  most: number,
  job?: string,
): Promise<FailedJob[]> {
  return tx.many(
    FailedJob,
    sql`
      select job.name as job, cause.because, job.runs as run, run.outcome, run.exit_code as "exitCode",
        run.message, run.execution_id::text as "executionId",
        coalesce(run.served_by = 'execution', false) as "hasLog",
        (
          select min(item.batch) from work_item as item
          where run.served_by = 'items' and item.graph_id = job.graph_id and item.job = job.name
            and item.run = run.number and item.state = 'failed'
        ) as "failedBatch",
        exists (
          select from run as other join graph as its on its.id = other.graph_id
          where other.action_digest = run.action_digest and other.outcome = 'succeeded' and not other.cached
            and its.repository = graph.repository and its.branch = graph.branch
        ) as flaky
      from job
      join graph on graph.id = job.graph_id
      left join run on run.graph_id = job.graph_id and run.job = job.name and run.number = job.runs
      left join lateral (
        select min(before.name) as because
        from edge join job as before on before.graph_id = edge.graph_id and before.name = edge.on_job
        where edge.graph_id = job.graph_id and edge.job = job.name and before.state = 'failed'
      ) as cause on true
      where job.graph_id = ${id} and job.state = 'failed'
        and (${job ?? null}::text is null or job.name = ${job ?? null})
      order by cause.because is not null, job.finished_at, job.name
      limit ${most}
    `,
  );
}

const Neighbour = z.object({
  id: z.string(),
  commit: z.string(),
  subject: z.string(),
  at: isoTime,
});

const Since = z.object({
  state: z.enum(["succeeded", "failed"]),
  /** How many newer graphs of the branch, up to the given one, are between. */
  age: z.number(),
  ...Neighbour.shape,
});
/** A graph of a branch in which a job ended. */
export type EndedIn = z.infer<typeof Since>;

/** The number of graphs of a branch in which earlier ends of a job are looked for. */
const mostGraphs = 500;

/**
 * Returns the graphs of the graph's branch in which a job ended, from the given one (`age` 0) back. Runs of searches,
 * clones and subgraphs do not count: they are not the state of the branch.
 */
export function endsOnBranch(tx: Tx, id: GraphId, job: string): Promise<EndedIn[]> {
  return tx.many(
    Since,
    sql`
      with near as (
        select id, number, commit, subject, created_at,
          row_number() over (order by number desc) - 1 as age
        from (
          select other.id, other.number, other.commit, other.subject, other.created_at
          from graph as this join graph as other
            on other.repository = this.repository and other.branch = this.branch and other.number <= this.number
          where this.id = ${id} and (other.parent_id is null or other.id = this.id)
          order by other.number desc limit ${mostGraphs}
        ) as newest
      )
      select job.state, near.age::integer as age, near.id, near.commit, near.subject, near.created_at as at
      from near join job on job.graph_id = near.id and job.name = ${job}
      where job.state in ('succeeded', 'failed')
      order by near.age
    `,
  );
}
