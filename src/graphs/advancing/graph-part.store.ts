import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { EdgeCondition, JobKind, RunCause, RunOutcome } from "#api/graph.ts";
import { JobState } from "#api/job-state.ts";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";
import type { GraphId } from "../graph-id.ts";
import type { GraphReader } from "./advance-graph.ts";
import type { AdvancingEdge, AdvancingJob, GraphPart } from "./graph-part.ts";
import { setAsides } from "./job-progress.ts";

const JobRow = z
  .object({
    graphId: z.uuid().brand<"GraphId">(),
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
  .transform(({ graphId, ...row }) => ({ graphId, job: jobOf(row) }));

function jobOf({
  runState,
  outcome,
  failureClass,
  ...job
}: Omit<AdvancingJob, "latestRun"> & {
  readonly runState: "queued" | "waiting" | "running" | "finished" | null;
  readonly outcome: RunOutcome | null;
  readonly failureClass: string | null;
}): AdvancingJob {
  if (runState === null) return { ...job, latestRun: undefined };
  if (runState !== "finished") return { ...job, latestRun: { state: runState } };
  const ended = { state: runState, outcome: RunOutcome.parse(outcome), failureClass };
  return { ...job, latestRun: ended };
}

interface JobName {
  readonly graphId: GraphId;
  readonly name: string;
}

/** Jobs by their graphs, as far as advancing goes. */
export async function jobsNamed(
  tx: Tx,
  names: readonly JobName[],
): Promise<Map<GraphId, AdvancingJob[]>> {
  const rows = await tx.many(
    JobRow,
    sql`
      select job.graph_id as "graphId", job.name, job.kind, job.depth, job.wanted, job.set_aside as "setAside",
             job.state, job.reason, job.open_edges as "openEdges", job.failed_edges as "failedEdges",
             job.runs, job.yield, job.stale_edges as "staleEdges", job.stale,
             run.state as "runState", run.outcome, run.failure_class as "failureClass"
      from ${pairs(names)} as n (graph_id, name)
      join job on job.graph_id = n.graph_id and job.name = n.name
      left join run on run.graph_id = job.graph_id and run.job = job.name and run.number = job.runs
    `,
  );
  return byGraph(rows, ({ job }) => job);
}

const EdgeRow = z
  .object({
    graphId: z.uuid().brand<"GraphId">(),
    job: z.string(),
    on: z.string(),
    condition: EdgeCondition,
    status: z.enum(["open", "met", "failed"]),
    waived: z.boolean(),
    taken: z.string().nullable(),
    stale: z.boolean(),
  })
  .transform(({ graphId, ...edge }) => ({ graphId, edge }));

/**
 * Reads parts of several locked graphs.
 *
 * Requests that arrive during a statement share the next one: graphs that advance at the same time go through their
 * levels together, with one statement for each level.
 */
export function forestReader(tx: Tx): { of(graphId: GraphId): GraphReader } {
  const edgesInto = together((names) => edgesOf(tx, names, sql`edge.job`));
  const edgesOutOf = together((names) => edgesOf(tx, names, sql`edge.on_job`));
  const jobs = together((names) => jobsNamed(tx, names));
  return {
    of(graphId) {
      const withJobs = async (
        edges: readonly AdvancingEdge[],
        endOf: (edge: AdvancingEdge) => string,
      ): Promise<GraphPart> => ({
        edges,
        jobs: edges.length === 0 ? [] : await jobs(graphId, [...new Set(edges.map(endOf))]),
      });
      return {
        outEdgesOf: async (names) => withJobs(await edgesOutOf(graphId, names), (edge) => edge.job),
        inEdgesOf: async (names) => withJobs(await edgesInto(graphId, names), (edge) => edge.on),
      };
    },
  };
}

async function edgesOf(
  tx: Tx,
  names: readonly JobName[],
  end: Sql,
): Promise<Map<GraphId, AdvancingEdge[]>> {
  const rows = await tx.many(
    EdgeRow,
    sql`
      select edge.graph_id as "graphId", edge.job, edge.on_job as on, edge.condition, edge.status,
             edge.waived_by is not null as waived, edge.taken, edge.stale
      from ${pairs(names)} as n (graph_id, name)
      join edge on edge.graph_id = n.graph_id and ${end} = n.name
    `,
  );
  return byGraph(rows, ({ edge }) => edge);
}

/** Combines the requests of several graphs into one statement. */
function together<Row>(
  read: (names: readonly JobName[]) => Promise<Map<GraphId, Row[]>>,
): (graphId: GraphId, names: readonly string[]) => Promise<Row[]> {
  let requestedNames: JobName[] = [];
  let reading: Promise<Map<GraphId, Row[]>> | undefined;
  return async (graphId, names) => {
    for (const name of names) requestedNames.push({ graphId, name });
    reading ??= (async () => {
      // Lets everything that the same answer wakes up send its request first.
      await setImmediate();
      const all = requestedNames;
      requestedNames = [];
      reading = undefined;
      return read(all);
    })();
    return (await reading).get(graphId) ?? [];
  };
}

function pairs(names: readonly JobName[]): Sql {
  return sql`unnest(${names.map(({ graphId }) => graphId)}::uuid[], ${names.map(({ name }) => name)}::text[])`;
}

function byGraph<Row extends { readonly graphId: GraphId }, Part>(
  rows: readonly Row[],
  partOf: (row: Row) => Part,
): Map<GraphId, Part[]> {
  const parts = new Map<GraphId, Part[]>();
  for (const row of rows) {
    const here = parts.get(row.graphId);
    if (here === undefined) parts.set(row.graphId, [partOf(row)]);
    else here.push(partOf(row));
  }
  return parts;
}
