import { z } from "zod";
import { GraphState, JobState } from "#api/job-state.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { GraphId } from "../graph-id.ts";
import { type Advance, advanceGraph } from "./advance-graph.ts";
import { graphReader, jobsNamed } from "./graph-part.store.ts";
import type { AdvancingEdge } from "./graph-part.ts";
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
  const advance = await advanceGraph(jobs, graphReader(tx, graph.id));
  await saveJobs(tx, graph.id, version, advance, happened);
  await saveJoins(tx, graph.id, advance);
  await saveEdges(tx, graph.id, advance.edges);
  await saveGraph(tx, graph, version, countsAfter(graph.counts, advance.jobs));
  if (advance.jobs.some(({ state, was }) => state === "ready" && was !== "ready"))
    await wakeRunners(tx);
}

/** Tells the runners of all servers, at commit, that a job is ready. */
export async function wakeRunners(tx: Tx): Promise<void> {
  await tx.run(sql`select pg_notify('grange_ready', '')`);
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
  const rows = advance.jobs.map((job) => ({
    name: job.name,
    state: job.state,
    turned: job.state !== job.was,
    revived: job.isRevived,
    wanted: job.wanted,
    reason: job.reason,
    open_edges: job.openEdges,
    failed_edges: job.failedEdges,
    runs: job.runs,
    yield: job.yield,
    stale_edges: job.staleEdges,
    stale: job.stale,
  }));
  // A job that opens again begins its times anew; they tell of the latest run. One that
  // is revived has its whole time to live again.
  await tx.run(sql`
    update job
    set state = c.state, version = ${version}, reason = c.reason, wanted = c.wanted,
        open_edges = c.open_edges, failed_edges = c.failed_edges,
        runs = c.runs, yield = c.yield, stale_edges = c.stale_edges, stale = c.stale,
        wanted_at = case when c.revived then now() else job.wanted_at end,
        wanted_why = case when c.revived then 'what made it unreachable is gone' else job.wanted_why end,
        expires_at = case
          when c.revived then now() + make_interval(secs => job.ttl_ms / 1000.0)
          else job.expires_at end,
        ready_at = case
          when not c.turned then job.ready_at
          when c.state = 'ready' then now()
          when c.state in ('inactive', 'blocked', 'unreachable') then null
          else job.ready_at end,
        started_at = case
          when not c.turned then job.started_at
          when c.state = 'running' then now()
          when c.state in ('inactive', 'blocked', 'unreachable', 'ready', 'waiting', 'queued') then null
          else job.started_at end,
        finished_at = case
          when not c.turned then job.finished_at
          when c.state in ('succeeded', 'failed', 'cancelled', 'expired', 'coalesced') then now()
          else null end,
        preparing_until = case when c.turned then null else job.preparing_until end,
        preparing_failures = case when c.turned then 0 else job.preparing_failures end
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as c (name text, state text, turned boolean, revived boolean, wanted text, reason text,
            open_edges integer, failed_edges integer, runs integer, yield text,
            stale_edges integer, stale boolean)
    where job.graph_id = ${graphId} and job.name = c.name
  `);
}

/** A join's run is over when it begins; it is history all the same. */
async function saveJoins(tx: Tx, graphId: GraphId, advance: Advance): Promise<void> {
  const rows = advance.jobs.flatMap(({ name, runs, yield: gave, joinedBecause }) =>
    joinedBecause === null ? [] : [{ name, number: runs, cause: joinedBecause, yield: gave }],
  );
  if (rows.length === 0) return;
  await tx.run(sql`
    insert into run (graph_id, job, number, cause, served_by, state, outcome, yield,
                     asked_by, why, wanted_at, ready_at, started_at, finished_at)
    select ${graphId}, job.name, j.number, j.cause, 'farm', 'finished', 'succeeded', j.yield,
           job.wanted_by, job.wanted_why, job.wanted_at, now(), now(), now()
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as j (name text, number integer, cause text, yield text)
    join job on job.graph_id = ${graphId} and job.name = j.name
  `);
}

async function saveEdges(tx: Tx, graphId: GraphId, edges: readonly AdvancingEdge[]): Promise<void> {
  if (edges.length === 0) return;
  await tx.run(sql`
    update edge
    set status = c.status, taken = c.taken, stale = c.stale
    from unnest(${edges.map((edge) => edge.job)}::text[],
                ${edges.map((edge) => edge.on)}::text[],
                ${edges.map((edge) => edge.status)}::text[],
                ${edges.map((edge) => edge.taken)}::text[],
                ${edges.map((edge) => edge.stale)}::boolean[])
      as c (job, on_job, status, taken, stale)
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
