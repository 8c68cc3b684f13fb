import { z } from "zod";
import { EdgeCondition, JobKind, RunCause, RunOutcome } from "#api/graph.ts";
import { JobState } from "#api/job-state.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { setAsides } from "../advancing/job-progress.ts";
import { GraphId } from "../graph-id.ts";
import type { GraphSnapshot } from "./graph-snapshot.ts";

const JobPart = z
  .object({
    name: z.string(),
    kind: JobKind,
    tags: z.record(z.string(), z.string()),
    depth: z.number(),
    state: JobState,
    wanted: RunCause.nullable(),
    setAside: z.enum(setAsides).nullable(),
    reason: z.string().nullable(),
    runs: z.number(),
    stale: z.boolean(),
    version: z.number(),
    isEnding: z.boolean(),
    childGraph: GraphId.nullable(),
    runState: z.enum(["queued", "waiting", "running", "finished"]).nullable(),
    outcome: RunOutcome.nullable(),
    failureClass: z.string().nullable(),
  })
  .transform(({ runState, outcome, failureClass, ...job }): GraphSnapshot["jobs"][number] => {
    if (runState === null) return { ...job, latestRun: undefined };
    if (runState !== "finished") return { ...job, latestRun: { state: runState } };
    const ended = { state: runState, outcome: RunOutcome.parse(outcome), failureClass };
    return { ...job, latestRun: ended };
  });

const EdgePart = z.object({
  job: z.string(),
  on: z.string(),
  condition: EdgeCondition,
  status: z.enum(["open", "met", "failed"]),
  waived: z.boolean(),
});

const SnapshotRow = z.object({
  id: GraphId,
  repository: z.string(),
  branch: z.string(),
  version: z.number(),
  jobs: z.array(JobPart),
  edges: z.array(EdgePart),
});

/**
 * Returns the present state of graphs by id.
 *
 * One statement for all of it, so that jobs and edges are consistent without locks: a preview must not delay other
 * work.
 */
export function snapshotsOf(tx: Tx, ids: readonly GraphId[]): Promise<GraphSnapshot[]> {
  return tx.many(
    SnapshotRow,
    sql`
      select graph.id, graph.repository, graph.branch, graph.version,
             (select coalesce(jsonb_agg(jsonb_build_object(
                'name', job.name, 'kind', job.kind, 'tags', job.tags, 'depth', job.depth,
                'state', job.state, 'wanted', job.wanted, 'setAside', job.set_aside,
                'reason', job.reason, 'runs', job.runs, 'stale', job.stale, 'version', job.version,
                'isEnding', coalesce(run.state <> 'finished' and run.cancel_asked_at is not null, false),
                'childGraph', child_graph.child,
                'runState', run.state, 'outcome', run.outcome, 'failureClass', run.failure_class)
                order by job.depth, job.name), '[]')
              from job
              left join run on run.graph_id = job.graph_id and run.job = job.name and run.number = job.runs
              left join child_graph on child_graph.graph_id = run.graph_id and child_graph.job = run.job
                and child_graph.run = run.number
              where job.graph_id = graph.id) as jobs,
             (select coalesce(jsonb_agg(jsonb_build_object(
                'job', edge.job, 'on', edge.on_job, 'condition', edge.condition,
                'status', edge.status, 'waived', edge.waived_by is not null)
                order by edge.job, edge.on_job), '[]')
              from edge where edge.graph_id = graph.id) as edges
      from graph
      where graph.id = any(${ids}::uuid[])
      order by graph.id
    `,
  );
}

const IdRow = z.object({ id: GraphId });

/** A graph, or all graphs of its set; by id, the order in which graphs are locked. */
export async function graphsInScope(
  tx: Tx,
  graphId: GraphId,
  wholeSet: boolean,
): Promise<GraphId[]> {
  const rows = await tx.many(
    IdRow,
    wholeSet
      ? sql`
          select id from graph
          where set_id = (select set_id from graph where id = ${graphId})
          order by id
        `
      : sql`select id from graph where id = ${graphId}`,
  );
  return rows.map((row) => row.id);
}
