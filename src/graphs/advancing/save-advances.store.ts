import type { GraphState } from "#api/job-state.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { namedWhereFew } from "../few-jobs.store.ts";
import type { LockedGraph } from "./advance.store.ts";
import type { Advance } from "./advance-graph.ts";
import { countsAfter, graphState } from "./graph-state.ts";

/** The changes of a graph, to be stored under its new version. */
interface GraphAdvance {
  readonly graph: LockedGraph;
  readonly version: number;
  /** The jobs that caused the advance; they are reported as changed even when their state is the same. */
  readonly happened: readonly string[];
  readonly advance: Advance;
}

/** Stores the changes of locked graphs, with as many statements for all as for one. */
export async function saveAdvances(tx: Tx, advances: readonly GraphAdvance[]): Promise<void> {
  await saveJobs(tx, advances);
  await saveJoins(tx, advances);
  await saveEdges(tx, advances);
  await saveGraphs(tx, advances);
}

async function saveJobs(tx: Tx, advances: readonly GraphAdvance[]): Promise<void> {
  const touched = advances.flatMap(({ graph, version, happened, advance }) => {
    const changed = new Set(advance.jobs.map((job) => job.name));
    return happened
      .filter((name) => !changed.has(name))
      .map((name) => ({ graph: graph.id, name, version }));
  });
  if (touched.length > 0) {
    await tx.run(sql`
      update job set version = t.version
      from unnest(${touched.map(({ graph }) => graph)}::uuid[], ${touched.map(({ name }) => name)}::text[],
                  ${touched.map(({ version }) => version)}::bigint[]) as t (graph_id, name, version)
      where job.graph_id = t.graph_id and job.name = t.name
    `);
  }
  const rows = advances.flatMap(({ graph, version, advance }) =>
    advance.jobs.map((job) => ({
      graph_id: graph.id,
      name: job.name,
      version,
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
    })),
  );
  if (rows.length === 0) return;
  // A job that opens again starts its times again, which are those of the latest run. A revived job gets its whole time
  // to live again.
  await tx.run(sql`
    update job
    set state = c.state, version = c.version, reason = c.reason, wanted = c.wanted,
        open_edges = c.open_edges, failed_edges = c.failed_edges,
        runs = c.runs, yield = c.yield, stale_edges = c.stale_edges, stale = c.stale,
        wanted_at = case when c.revived then now() else job.wanted_at end,
        wanted_why = case when c.revived then 'what made it unreachable is gone' else job.wanted_why end,
        expires_at = case
          when c.revived then now() + make_interval(secs => job.ttl_ms / 1000.0)
          when c.turned and c.state in ('running', 'succeeded') then null
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
          -- What takes no longer than a moment is over before anybody says that it began.
          else coalesce(job.started_at, (
            select run.started_at from run
            where run.graph_id = job.graph_id and run.job = job.name and run.number = c.runs
              and run.served_by = 'execution')) end,
        finished_at = case
          when not c.turned then job.finished_at
          when c.state in ('succeeded', 'failed', 'cancelled', 'expired', 'coalesced') then now()
          else null end,
        -- Whoever prepares a job that stops being ready holds what the jobs before it gave till now.
        preparing_epoch = job.preparing_epoch + (c.turned and job.state = 'ready')::integer,
        preparing_until = case when c.turned then null else job.preparing_until end,
        preparing_failures = case when c.turned then 0 else job.preparing_failures end
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as c (graph_id uuid, name text, version bigint, state text, turned boolean, revived boolean,
            wanted text, reason text, open_edges integer, failed_edges integer, runs integer,
            yield text, stale_edges integer, stale boolean)
    where job.graph_id = c.graph_id and job.name = c.name
      and ${namedWhereFew(rows.map(({ graph_id: graphId, name: job }) => ({ graphId, job })))}
  `);
}

/** Stores the runs of joins, which end when they begin, as history. */
async function saveJoins(tx: Tx, advances: readonly GraphAdvance[]): Promise<void> {
  const rows = advances.flatMap(({ graph, advance }) =>
    advance.jobs.flatMap(({ name, runs, yield: gave, joinedBecause }) =>
      joinedBecause === null
        ? []
        : [{ graph_id: graph.id, name, number: runs, cause: joinedBecause, yield: gave }],
    ),
  );
  if (rows.length === 0) return;
  await tx.run(sql`
    insert into run (graph_id, job, number, cause, served_by, state, outcome, yield,
                     asked_by, why, wanted_at, ready_at, started_at, finished_at)
    select job.graph_id, job.name, j.number, j.cause, 'farm', 'finished', 'succeeded', j.yield,
           job.wanted_by, job.wanted_why, job.wanted_at, now(), now(), now()
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as j (graph_id uuid, name text, number integer, cause text, yield text)
    join job on job.graph_id = j.graph_id and job.name = j.name
  `);
}

async function saveEdges(tx: Tx, advances: readonly GraphAdvance[]): Promise<void> {
  const edges = advances.flatMap(({ graph, advance }) =>
    advance.edges.map((edge) => ({ ...edge, graph: graph.id })),
  );
  if (edges.length === 0) return;
  await tx.run(sql`
    update edge
    set status = c.status, taken = c.taken, stale = c.stale
    from unnest(${edges.map((edge) => edge.graph)}::uuid[],
                ${edges.map((edge) => edge.job)}::text[],
                ${edges.map((edge) => edge.on)}::text[],
                ${edges.map((edge) => edge.status)}::text[],
                ${edges.map((edge) => edge.taken)}::text[],
                ${edges.map((edge) => edge.stale)}::boolean[])
      as c (graph_id, job, on_job, status, taken, stale)
    where edge.graph_id = c.graph_id and edge.job = c.job and edge.on_job = c.on_job
  `);
}

/**
 * Stores the states of graphs. The end of a graph that a job of another graph made is marked for that job, each time
 * that it ends, because a job in it may have been retriggered.
 */
async function saveGraphs(tx: Tx, advances: readonly GraphAdvance[]): Promise<void> {
  const rows = advances.map(({ graph, version, advance }) => {
    const counts = countsAfter(graph.counts, advance.jobs);
    const state: GraphState = graphState(counts, graph.cancelRequested);
    return { id: graph.id, version, counts, state, was: graph.state };
  });
  await tx.run(sql`
    with saved as (
      update graph
      set version = s.version, counts = s.counts, state = s.state,
          finished_at = case when s.state = 'running' then null else coalesce(graph.finished_at, now()) end,
          -- From its end until it goes on, nobody asked anything of it.
          idle_ms = graph.idle_ms + case
            when s.state = 'running' and graph.finished_at is not null
              then greatest(0, extract(epoch from now() - graph.finished_at) * 1000)::bigint
            else 0 end
      from json_to_recordset(${JSON.stringify(rows)}::json)
        as s (id uuid, version bigint, counts jsonb, state text, was text)
      where graph.id = s.id
      returning graph.id, graph.version, graph.state, graph.parent_kind, s.was
    ),
    ended as (
      update child_graph
      set over_version = saved.version, settled = child_graph.settled and saved.was = saved.state
      from saved
      where saved.parent_kind = 'subgraph' and saved.state <> 'running' and child_graph.child = saved.id
      returning pg_notify('grange_errand', '')
    )
    select pg_notify('grange_graph', id::text) from saved
    union all
    select null from ended
  `);
}
