import { z } from "zod";
import { RunOutcome } from "#api/graph.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { GraphId } from "../graph-id.ts";

const RunToFollow = z.object({
  child: GraphId,
  graphId: GraphId,
  job: z.string(),
  run: z.number(),
  outcome: RunOutcome,
  inputRuns: z.record(z.string(), z.number()),
  /** The result of its commands: an REv2 ActionResult, binary. Null when it has no commands. */
  result: z.instanceof(Uint8Array).nullable(),
});
/** A run that made a graph and ended before that graph ended again. */
type RunToFollow = z.infer<typeof RunToFollow>;

/**
 * Returns the runs whose graphs have ended again, where they are their jobs' latest runs and no further run is wanted.
 *
 * Cancelled runs are left out: their end is not that of the graph. The waiting graphs are locked.
 */
export function runsToFollow(tx: Tx, children: readonly GraphId[]): Promise<RunToFollow[]> {
  return tx.many(
    RunToFollow,
    sql`
      select child_graph.child, run.graph_id as "graphId", run.job, run.number as run, run.outcome,
             coalesce(run.input_runs, '{}') as "inputRuns", run.result
      from child_graph
      join run on run.graph_id = child_graph.graph_id and run.job = child_graph.job
        and run.number = child_graph.run
      join job on job.graph_id = run.graph_id and job.name = run.job and job.runs = run.number
      where child_graph.child = any(${children}::uuid[]) and run.state = 'finished'
        and run.cancel_asked_at is null and job.wanted is null and job.set_aside is null
    `,
  );
}

/** Records why jobs get a further run. */
export async function noteWhy(tx: Tx, runs: readonly RunToFollow[]): Promise<void> {
  if (runs.length === 0) return;
  await tx.run(sql`
    update job
    set wanted_by = null, wanted_why = 'its graph ' || r.child || ' ended again', wanted_at = now()
    from unnest(${runs.map((run) => run.graphId)}::uuid[], ${runs.map((run) => run.job)}::text[],
                ${runs.map((run) => run.child)}::text[]) as r (graph_id, job, child)
    where job.graph_id = r.graph_id and job.name = r.job
  `);
}

/** Gives graphs to the runs that were added for them. */
export async function takeOver(tx: Tx, runs: readonly RunToFollow[]): Promise<void> {
  if (runs.length === 0) return;
  await tx.run(sql`
    update child_graph set run = run + 1 where child = any(${runs.map((run) => run.child)}::uuid[])
  `);
}
