import { z } from "zod";
import {
  type Edge,
  EdgeCondition,
  type Graph,
  type GraphDelta,
  JobKind,
  type JobSummary,
} from "#api/graph.ts";
import { JobState } from "#api/job-state.ts";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";
import { together } from "#db/together.ts";
import type { GraphId } from "./graph-id.ts";
import { graphSummary } from "./graph-summary.store.ts";
import { reasonColumn } from "./reason-column.store.ts";

/** A time as PostgreSQL writes it into JSON. */
const isoTime = z.string().transform((text) => new Date(text).toISOString());

const JobRow = z.object({
  name: z.string(),
  kind: JobKind,
  state: JobState,
  version: z.number(),
  tags: z.record(z.string(), z.string()),
  runs: z.number(),
  cached: z.boolean(),
  stale: z.boolean(),
  customised: z.boolean(),
  reason: z.string().nullable(),
  openEdges: z.number(),
  readyAt: isoTime.nullable(),
  startedAt: isoTime.nullable(),
  finishedAt: isoTime.nullable(),
});
type JobRow = z.infer<typeof JobRow>;

function summaryOf({ openEdges, ...row }: JobRow, firstOpen: string | undefined): JobSummary {
  const isWaiting = row.state === "blocked" && firstOpen !== undefined;
  return { ...row, reason: isWaiting ? waitingFor(firstOpen, openEdges) : row.reason };
}

/** `waits for build`, `waits for build and 3 others`. */
function waitingFor(first: string, open: number): string {
  const others = open - 1;
  if (others <= 0) return `waits for ${first}`;
  return `waits for ${first} and ${others} ${others === 1 ? "other" : "others"}`;
}

const FirstOpenRow = z.object({ job: z.string(), on: z.string() });

/** Returns what each of these jobs waits for first; `which` is a condition on `edge`. */
async function firstOpenEdges(
  tx: Tx,
  graphId: GraphId,
  which: Sql,
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.many(
    FirstOpenRow,
    sql`
      select job, min(on_job) as on from edge
      where graph_id = ${graphId} and status = 'open' and ${which}
      group by job
    `,
  );
  return new Map(rows.map(({ job, on }) => [job, on]));
}

/**
 * Jobs of a graph, by name; `which` is a condition on `job`.
 *
 * Edges are read by a separate statement. In a join with the jobs, they were scanned once for each job when the
 * planner's statistics were older than the graph and showed one job: 100 million rows for 10,000 jobs.
 */
function jobRows(tx: Tx, graphId: GraphId, which: Sql): Promise<JobRow[]> {
  return listOf(
    tx,
    JobList,
    sql`
      select job.name, job.kind, job.state, job.version, job.stale, job.patch is not null as customised, job.tags, job.runs, coalesce(run.cached, false) as cached,
             coalesce(${reasonColumn}, case when job.state = 'failed' then run.message end) as reason,
             job.open_edges as "openEdges",
             job.ready_at as "readyAt", job.started_at as "startedAt", job.finished_at as "finishedAt"
      from job
      left join run on run.graph_id = job.graph_id and run.job = job.name and run.number = job.runs
      where job.graph_id = ${graphId} and ${which}
      order by job.name
    `,
  );
}

/** Some jobs of a graph as its page shows them; `which` is a condition on `job`. */
async function summariesOfJobs(tx: Tx, graphId: GraphId, which: Sql): Promise<JobSummary[]> {
  const rows = await jobRows(tx, graphId, which);
  const blocked = rows.flatMap(({ name, state }) => (state === "blocked" ? [name] : []));
  if (blocked.length === 0) return rows.map((row) => summaryOf(row, undefined));
  const firstOpen = await firstOpenEdges(tx, graphId, sql`job = any(${blocked}::text[])`);
  return rows.map((row) => summaryOf(row, firstOpen.get(row.name)));
}

const JobList = z.object({ list: z.array(JobRow) });

/**
 * Runs a statement that may return ten thousand rows of many columns, and has PostgreSQL write them as one JSON text:
 * reading that takes less time than a row for each.
 */
async function listOf<Item>(
  tx: Tx,
  schema: z.ZodType<{ readonly list: Item[] }>,
  rows: Sql,
): Promise<Item[]> {
  const [all] = await tx.many(
    schema,
    sql`select coalesce(json_agg(each), '[]') as list from (${rows}) as each`,
  );
  return all?.list ?? [];
}

const EdgeRow = z
  .object({
    job: z.string(),
    on: z.string(),
    condition: EdgeCondition,
    status: z.enum(["open", "met", "failed"]),
    waivedBy: z.string().nullable(),
    waivedReason: z.string().nullable(),
    waivedAt: isoTime.nullable(),
  })
  .transform(({ waivedBy: by, waivedReason: reason, waivedAt: at, ...edge }) => ({
    ...edge,
    waived: by === null || reason === null || at === null ? null : { by, reason, at },
  }));

const EdgeList = z.object({ list: z.array(EdgeRow) });

/** Edges of a graph; `which` is a condition on `edge`. */
export function edgesOf(tx: Tx, graphId: GraphId, which: Sql): Promise<Edge[]> {
  return listOf(
    tx,
    EdgeList,
    sql`
      select job, on_job as on, condition, status, waived_by as "waivedBy",
             waived_reason as "waivedReason", waived_at as "waivedAt"
      from edge
      where graph_id = ${graphId} and ${which}
      order by job, on_job
    `,
  );
}

/**
 * Returns a graph with all its jobs and edges; call it in a transaction, so that they are
 * consistent.
 */
export async function wholeGraph(tx: Tx, id: GraphId): Promise<Graph | undefined> {
  const graph = await graphSummary(tx, id);
  if (graph === undefined) return undefined;
  // PostgreSQL reads the edges while the jobs are parsed here.
  const [rows, edges] = await together([jobRows(tx, id, sql`true`), edgesOf(tx, id, sql`true`)]);
  // The edges are sorted as `firstOpenEdges` compares them, so the first one of each job is the same.
  const firstOpen = new Map<string, string>();
  for (const { job, on, status } of edges)
    if (status === "open" && !firstOpen.has(job)) firstOpen.set(job, on);
  return { ...graph, jobList: rows.map((row) => summaryOf(row, firstOpen.get(row.name))), edges };
}

/**
 * Returns the changes of a graph after a version.
 *
 * The summary is read first: a job that changes meanwhile has a version above the summary's, and comes again with the
 * next delta.
 */
export async function graphChangesSince(
  tx: Tx,
  id: GraphId,
  version: number,
): Promise<GraphDelta | undefined> {
  const graph = await graphSummary(tx, id);
  if (graph === undefined) return undefined;
  if (graph.version <= version) return { graph, jobs: [] };
  // The index of changed jobs is used only if the statement has its condition, `version > 1`.
  const isChanged =
    version < 1 ? sql`job.version > ${version}` : sql`job.version > ${version} and job.version > 1`;
  return { graph, jobs: await summariesOfJobs(tx, id, isChanged) };
}

export async function jobSummary(
  tx: Tx,
  id: GraphId,
  job: string,
): Promise<JobSummary | undefined> {
  const [found] = await summariesOfJobs(tx, id, sql`job.name = ${job}`);
  return found;
}

const JobStateRow = z.object({ name: z.string(), state: JobState });

/** Returns the jobs that a job waits for, and those that wait for it, each once. */
export function neighbourStates(
  tx: Tx,
  id: GraphId,
  job: string,
): Promise<z.infer<typeof JobStateRow>[]> {
  return tx.many(
    JobStateRow,
    sql`
      select name, state from job
      where graph_id = ${id} and name in (
        select on_job from edge where graph_id = ${id} and job = ${job}
        union all
        select job from edge where graph_id = ${id} and on_job = ${job}
      )
      order by name
    `,
  );
}

/** Jobs of a graph that failed, the first by name. */
export function failedJobs(tx: Tx, id: GraphId, most: number): Promise<JobSummary[]> {
  return summariesOfJobs(
    tx,
    id,
    sql`job.name in (select name from job where graph_id = ${id} and state = 'failed' order by name limit ${most})`,
  );
}
