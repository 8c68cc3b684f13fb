import { z } from "zod";
import { EdgeCondition, RunCause, RunOutcome } from "#api/graph.ts";
import { GraphState, JobState } from "#api/job-state.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import {
  type Advance,
  type AdvancingEdge,
  type AdvancingJob,
  advanceGraph,
  type GraphPart,
} from "./advance-graph.ts";
import type { GraphId } from "./graph-id.ts";
import { countsAfter, graphState, type JobCounts } from "./graph-state.ts";

const LockedGraph = z.object({
  id: z.uuid().brand<"GraphId">(),
  state: GraphState,
  version: z.number(),
  counts: z.partialRecord(JobState, z.number()),
  cancelAsked: z.boolean(),
});
/** A graph that this transaction may change; nobody else can until it ends. */
export type LockedGraph = z.infer<typeof LockedGraph>;

/**
 * Locks graphs, in one order for all, so that no two transactions wait for each other.
 *
 * Executions are always locked before graphs: the queue calls us with its rows in hand.
 */
export function lockGraphs(tx: Tx, ids: readonly GraphId[]): Promise<LockedGraph[]> {
  return tx.many(
    LockedGraph,
    sql`
      select id, state, version, counts, cancel_asked_at is not null as "cancelAsked"
      from graph
      where id = any(${[...new Set(ids)]}::uuid[])
      order by id
      for update
    `,
  );
}

/**
 * Recomputes jobs to which something happened, and all that hangs on them; stores it under a new version.
 *
 * Their runs and wishes must be stored already. Tells every server at commit.
 */
export async function advanceStoredGraph(
  tx: Tx,
  graph: LockedGraph,
  happened: readonly string[],
): Promise<void> {
  if (happened.length === 0) return;
  const version = graph.version + 1;
  const jobs = await jobsNamed(tx, graph.id, happened);
  const advance = await advanceGraph(jobs, (names) => outEdgesOf(tx, graph.id, names));
  await saveJobs(tx, graph.id, version, advance, happened);
  await saveEdges(tx, graph.id, advance.edges);
  await saveGraph(tx, graph, version, countsAfter(graph.counts, advance.jobs));
  if (advance.jobs.some(({ state, was }) => state === "ready" && was !== "ready"))
    await wakeRunners(tx);
}

/** Tells the runners of all servers, at commit, that a job is ready. */
export async function wakeRunners(tx: Tx): Promise<void> {
  await tx.run(sql`select pg_notify('grange_ready', '')`);
}

const JobRow = z
  .object({
    name: z.string(),
    kind: z.enum(["command", "join"]),
    wanted: RunCause.nullable(),
    state: JobState,
    reason: z.string().nullable(),
    openEdges: z.number(),
    failedEdges: z.number(),
    runState: z.enum(["queued", "running", "finished"]).nullable(),
    outcome: RunOutcome.nullable(),
  })
  .transform(({ runState, outcome, ...job }): AdvancingJob => {
    if (runState === null) return { ...job, latestRun: undefined };
    if (runState !== "finished") return { ...job, latestRun: { state: runState } };
    return { ...job, latestRun: { state: runState, outcome: RunOutcome.parse(outcome) } };
  });

function jobsNamed(tx: Tx, graphId: GraphId, names: readonly string[]): Promise<AdvancingJob[]> {
  return tx.many(
    JobRow,
    sql`
      select job.name, job.kind, job.wanted, job.state, job.reason,
             job.open_edges as "openEdges", job.failed_edges as "failedEdges",
             run.state as "runState", run.outcome
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
});

async function outEdgesOf(tx: Tx, graphId: GraphId, names: readonly string[]): Promise<GraphPart> {
  const edges = await tx.many(
    EdgeRow,
    sql`
      select job, on_job as on, condition, status
      from edge
      where graph_id = ${graphId} and on_job = any(${names}::text[])
    `,
  );
  if (edges.length === 0) return { jobs: [], edges };
  return { edges, jobs: await jobsNamed(tx, graphId, [...new Set(edges.map((edge) => edge.job))]) };
}

async function saveJobs(
  tx: Tx,
  graphId: GraphId,
  version: number,
  advance: Advance,
  happened: readonly string[],
): Promise<void> {
  const changed = new Set(advance.jobs.map((job) => job.name));
  const touched = happened.filter((name) => !changed.has(name));
  if (touched.length > 0) {
    await tx.run(sql`
      update job set version = ${version}
      where graph_id = ${graphId} and name = any(${touched}::text[])
    `);
  }
  if (advance.jobs.length === 0) return;
  const rows = advance.jobs.map(({ name, state, was, reason, openEdges, failedEdges }) => ({
    name,
    state,
    turned: state !== was,
    reason,
    open_edges: openEdges,
    failed_edges: failedEdges,
  }));
  // A job that opens again begins its times anew; they tell of the latest run.
  await tx.run(sql`
    update job
    set state = c.state, version = ${version}, reason = c.reason,
        open_edges = c.open_edges, failed_edges = c.failed_edges,
        ready_at = case
          when not c.turned then job.ready_at
          when c.state = 'ready' then now()
          when c.state in ('blocked', 'unreachable') then null
          else job.ready_at end,
        started_at = case
          when not c.turned then job.started_at
          when c.state = 'running' then now()
          when c.state in ('blocked', 'unreachable', 'ready', 'queued') then null
          else job.started_at end,
        finished_at = case
          when not c.turned then job.finished_at
          when c.state in ('succeeded', 'failed', 'cancelled') then now()
          else null end,
        preparing_until = case when c.turned then null else job.preparing_until end,
        preparing_failures = case when c.turned then 0 else job.preparing_failures end
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as c (name text, state text, turned boolean, reason text, open_edges integer, failed_edges integer)
    where job.graph_id = ${graphId} and job.name = c.name
  `);
}

async function saveEdges(tx: Tx, graphId: GraphId, edges: readonly AdvancingEdge[]): Promise<void> {
  if (edges.length === 0) return;
  await tx.run(sql`
    update edge
    set status = c.status
    from unnest(${edges.map((edge) => edge.job)}::text[],
                ${edges.map((edge) => edge.on)}::text[],
                ${edges.map((edge) => edge.status)}::text[]) as c (job, on_job, status)
    where edge.graph_id = ${graphId} and edge.job = c.job and edge.on_job = c.on_job
  `);
}

async function saveGraph(
  tx: Tx,
  graph: LockedGraph,
  version: number,
  counts: JobCounts,
): Promise<void> {
  const state = graphState(counts, graph.cancelAsked);
  await tx.run(sql`
    update graph
    set version = ${version}, counts = ${JSON.stringify(counts)}::jsonb, state = ${state},
        finished_at = case when ${state} = 'running' then null else coalesce(finished_at, now()) end
    where id = ${graph.id}
  `);
  await tx.run(sql`select pg_notify('grange_graph', ${graph.id})`);
}
