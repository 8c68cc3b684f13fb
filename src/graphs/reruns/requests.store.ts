import type { RunCause } from "#api/graph.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { SetAside } from "../advancing/job-progress.ts";
import type { GraphId } from "../graph-id.ts";

/** A requested run. */
export interface Request {
  readonly job: string;
  readonly cause: RunCause;
  /** The reason for display, in one sentence. */
  readonly why: string;
  /** How many runs, one after the other. */
  readonly times: number;
}

/**
 * Requests runs of jobs without a requested run. The graph is locked; advance it afterwards.
 *
 * The used part of the budget for automatic retries stays used.
 */
export async function wantRuns(
  tx: Tx,
  graphId: GraphId,
  wanted: readonly Request[],
  by: string,
): Promise<void> {
  if (wanted.length === 0) return;
  await tx.run(sql`
    update job
    set wanted = w.cause, wanted_by = ${by}, wanted_why = w.why, wanted_at = now(),
        expires_at = now() + make_interval(secs => job.ttl_ms / 1000.0),
        set_aside = null, coalesced_graph = null, coalesced_job = null, reason = null,
        runs_asked = case when w.times > 1 then w.times else 0 end,
        runs_left = case when w.times > 1 then w.times else 0 end
    from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb)
      as w (job text, cause text, why text, times integer)
    where job.graph_id = ${graphId} and job.name = w.job
  `);
}

/** Sets jobs aside, so that they run only on request. The graph is locked; advance it afterwards. */
export async function setJobsAside(
  tx: Tx,
  graphId: GraphId,
  jobs: ReadonlyMap<string, SetAside>,
  why: string,
): Promise<void> {
  if (jobs.size === 0) return;
  await tx.run(sql`
    update job
    set set_aside = a.aside, wanted = null, expires_at = null, reason = ${why},
        runs_asked = 0, runs_left = 0
    from unnest(${[...jobs.keys()]}::text[], ${[...jobs.values()]}::text[]) as a (name, aside)
    where job.graph_id = ${graphId} and job.name = a.name
  `);
}

/** Withdraws the cancellation of a graph, because further runs were requested. */
export async function forgetCancellation(tx: Tx, graphId: GraphId): Promise<void> {
  await tx.run(sql`
    update graph set cancel_asked_at = null where id = ${graphId} and cancel_asked_at is not null
  `);
}
