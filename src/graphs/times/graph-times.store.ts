import { z } from "zod";
import { criticalPath } from "#api/critical-path.ts";
import { JobState } from "#api/job-state.ts";
import type { Db, Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { GraphId } from "../graph-id.ts";
import { moveMark, spanToCount } from "./rollup-mark.store.ts";

/**
 * The number of graphs per round: each is read completely for its critical path, and one may have
 * ten thousand jobs.
 */
const graphsPerTurn = 50;

const EndedGraph = z.object({ id: GraphId, endedAt: z.string() });

/**
 * Stores the times of graphs that ended since the last call. Returns false when none is left, or another server is
 * doing it.
 */
export function rollUpGraphs(db: Db, now: Date): Promise<boolean> {
  return db.transaction(async (tx) => {
    const span = await spanToCount(
      tx,
      "graphs",
      now,
      graphsPerTurn,
      (after, until) => sql`
        select finished_at as at from graph
        where finished_at > ${after}::timestamptz and finished_at <= ${until}
      `,
    );
    if (span === undefined) return false;
    const graphs = await tx.many(
      EndedGraph,
      sql`
        select id, finished_at::text as "endedAt" from graph
        where finished_at > ${span.after}::timestamptz and finished_at <= ${span.until}::timestamptz
          and not exists (select from graph_times where graph_id = graph.id)
      `,
    );
    for (const { id, endedAt } of graphs) {
      await keepTimes(tx, id, endedAt, await criticalPathMs(tx, id, now));
    }
    await moveMark(tx, "graphs", span);
    return true;
  });
}

async function keepTimes(
  tx: Tx,
  id: GraphId,
  endedAt: string,
  criticalPathMs: number,
): Promise<void> {
  await tx.run(sql`
    insert into graph_times (graph_id, ended_at, end_to_end_ms, first_failure_ms, critical_path_ms)
    select id, ${endedAt}::timestamptz,
           greatest(0, extract(epoch from ${endedAt}::timestamptz - created_at) * 1000 - idle_ms),
           (select extract(epoch from min(run.finished_at) - created_at) * 1000
            from run
            where run.graph_id = graph.id and run.outcome not in ('succeeded', 'cancelled')),
           ${Math.round(criticalPathMs)}
    from graph where id = ${id}
    on conflict do nothing
  `);
}

const isoTime = z.date().transform((date) => date.toISOString());
const TimedJobRow = z.object({
  name: z.string(),
  state: JobState,
  readyAt: isoTime.nullable(),
  startedAt: isoTime.nullable(),
  finishedAt: isoTime.nullable(),
});
const EdgeRow = z.object({ job: z.string(), on: z.string() });

/** Returns the duration of the jobs on the critical path: how long the graph would have taken without queues. */
async function criticalPathMs(tx: Tx, id: GraphId, now: Date): Promise<number> {
  const jobs = await tx.many(
    TimedJobRow,
    sql`
      select name, state, ready_at as "readyAt", started_at as "startedAt", finished_at as "finishedAt"
      from job where graph_id = ${id}
    `,
  );
  const edges = await tx.many(
    EdgeRow,
    sql`select job, on_job as on from edge where graph_id = ${id}`,
  );
  return criticalPath(jobs, edges, now.getTime()).reduce((sum, { runMs }) => sum + runMs, 0);
}
