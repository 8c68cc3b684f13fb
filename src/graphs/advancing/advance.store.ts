import { z } from "zod";
import { GraphState, JobState } from "#api/job-state.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { GraphId } from "../graph-id.ts";
import { advanceGraph } from "./advance-graph.ts";
import { forestReader, jobsNamed } from "./graph-part.store.ts";
import { saveAdvances } from "./save-advances.store.ts";

const LockedGraph = z.object({
  id: z.uuid().brand<"GraphId">(),
  state: GraphState,
  version: z.number(),
  counts: z.partialRecord(JobState, z.number()),
  cancelRequested: z.boolean(),
});
/** A graph that only this transaction may change until it ends. */
export type LockedGraph = z.infer<typeof LockedGraph>;

/**
 * Locks graphs in one fixed order, so that no two transactions wait for each other.
 *
 * Executions are always locked before graphs: when the queue calls this, it holds the locks of their rows.
 */
export async function lockGraphs(tx: Tx, ids: readonly GraphId[]): Promise<LockedGraph[]> {
  // As for each execution of a build tool.
  if (ids.length === 0) return [];
  return tx.many(
    LockedGraph,
    sql`
      select id, state, version, counts, cancel_asked_at is not null as "cancelRequested"
      from graph
      where id = any(${[...new Set(ids)]}::uuid[])
      order by id
      for update
    `,
  );
}

/** A graph, and its jobs to which something happened. */
export interface GraphEvent {
  readonly graph: LockedGraph;
  readonly jobs: readonly string[];
}

/** Like `advanceStoredGraphs`, for one graph. */
export function advanceStoredGraph(
  tx: Tx,
  graph: LockedGraph,
  happened: readonly string[],
): Promise<void> {
  return advanceStoredGraphs(tx, [{ graph, jobs: happened }]);
}

/**
 * Recomputes changed jobs and all their dependents; stores each graph under a new version.
 *
 * Their runs and wishes must be stored already. Tells every server at commit. The graphs are read and stored together:
 * a hundred cost little more statements than one.
 */
export async function advanceStoredGraphs(
  tx: Tx,
  graphEvents: readonly GraphEvent[],
): Promise<void> {
  const concerned = graphEvents.filter(({ jobs }) => jobs.length > 0);
  if (concerned.length === 0) return;
  const stored = await jobsNamed(
    tx,
    concerned.flatMap(({ graph, jobs }) => jobs.map((name) => ({ graphId: graph.id, name }))),
  );
  const reader = forestReader(tx);
  // All are awaited even if one fails, because none may read after the rollback.
  const settled = await Promise.allSettled(
    concerned.map(async ({ graph, jobs }) => ({
      graph,
      happened: jobs,
      version: graph.version + 1,
      advance: await advanceGraph(stored.get(graph.id) ?? [], reader.of(graph.id)),
    })),
  );
  const advances = settled.map((each) => {
    if (each.status === "rejected") throw each.reason;
    return each.value;
  });
  await saveAdvances(tx, advances);
  const isReady = advances.some(({ advance }) =>
    advance.jobs.some(({ state, was }) => state === "ready" && was !== "ready"),
  );
  if (isReady) await wakeRunners(tx);
}

/** Tells the runners of all servers, at commit, that a job is ready. */
export async function wakeRunners(tx: Tx): Promise<void> {
  await tx.run(sql`select pg_notify('grange_ready', '')`);
}
