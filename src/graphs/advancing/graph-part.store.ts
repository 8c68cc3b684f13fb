import { z } from "zod";
import { EdgeCondition, JobKind, RunCause, RunOutcome } from "#api/graph.ts";
import { JobState } from "#api/job-state.ts";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";
import type { GraphId } from "../graph-id.ts";
import type { GraphReader } from "./advance-graph.ts";
import type { AdvancingJob, GraphPart } from "./graph-part.ts";
import { setAsides } from "./job-progress.ts";

const JobRow = z
  .object({
    name: z.string(),
    kind: JobKind,
    depth: z.number(),
    wanted: RunCause.nullable(),
    setAside: z.enum(setAsides).nullable(),
    state: JobState,
    reason: z.string().nullable(),
    openEdges: z.number(),
    failedEdges: z.number(),
    runs: z.number(),
    yield: z.string(),
    staleEdges: z.number(),
    stale: z.boolean(),
    runState: z.enum(["queued", "waiting", "running", "finished"]).nullable(),
    outcome: RunOutcome.nullable(),
    failureClass: z.string().nullable(),
  })
  .transform(({ runState, outcome, failureClass, ...job }): AdvancingJob => {
    if (runState === null) return { ...job, latestRun: undefined };
    if (runState !== "finished") return { ...job, latestRun: { state: runState } };
    const ended = { state: runState, outcome: RunOutcome.parse(outcome), failureClass };
    return { ...job, latestRun: ended };
  });

/** Jobs of a graph, as far as advancing goes. */
export function jobsNamed(
  tx: Tx,
  graphId: GraphId,
  names: readonly string[],
): Promise<AdvancingJob[]> {
  return tx.many(
    JobRow,
    sql`
      select job.name, job.kind, job.depth, job.wanted, job.set_aside as "setAside", job.state, job.reason,
             job.open_edges as "openEdges", job.failed_edges as "failedEdges", job.runs, job.yield,
             job.stale_edges as "staleEdges", job.stale,
             run.state as "runState", run.outcome, run.failure_class as "failureClass"
      from job
      left join run on run.graph_id = job.graph_id and run.job = job.name and run.number = job.runs
      where job.graph_id = ${graphId} and job.name = any(${names}::text[])
    `,
  );
}

const EdgeRow = z.object({
  job: z.string(),
  on: z.string(),
  condition: EdgeCondition,
  status: z.enum(["open", "met", "failed"]),
  waived: z.boolean(),
  taken: z.string().nullable(),
  stale: z.boolean(),
});

/** Reads a stored graph's parts; the graph is locked. */
export function graphReader(tx: Tx, graphId: GraphId): GraphReader {
  const edges = (which: Sql) =>
    tx.many(
      EdgeRow,
      sql`
        select job, on_job as on, condition, status, waived_by is not null as waived, taken, stale
        from edge
        where graph_id = ${graphId} and ${which}
      `,
    );
  const withJobs = async (
    found: readonly z.infer<typeof EdgeRow>[],
    endOf: (edge: z.infer<typeof EdgeRow>) => string,
  ): Promise<GraphPart> => ({
    edges: found,
    jobs: found.length === 0 ? [] : await jobsNamed(tx, graphId, [...new Set(found.map(endOf))]),
  });
  return {
    outEdgesOf: async (names) =>
      withJobs(await edges(sql`on_job = any(${names}::text[])`), (edge) => edge.job),
    inEdgesOf: async (names) =>
      withJobs(await edges(sql`job = any(${names}::text[])`), (edge) => edge.on),
  };
}
