import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { GraphId } from "./graph-id.ts";

const PastRun = z.object({
  graph: z.string(),
  repository: z.string(),
  branch: z.string(),
  commit: z.string(),
  job: z.string(),
  run: z.number(),
  actionDigest: z.string(),
  executionId: z.string().nullable(),
  outcome: z.string().nullable(),
  worker: z.string().nullable(),
  queuedAt: z.date(),
});
/** A run of a job that had an action, with its place. */
export type PastRun = z.infer<typeof PastRun>;

const columns = sql`
  graph.id::text as graph, graph.repository, graph.branch, graph.commit, run.job, run.number as run,
  run.action_digest as "actionDigest", run.execution_id::text as "executionId", run.outcome,
  run.worker, run.queued_at as "queuedAt"
`;

/**
 * Returns the run of a graph that an execution served; undefined when it served none of this graph.
 *
 * @param invocation what requested the execution first: for jobs, the graph's id
 */
export async function runOfExecution(
  tx: Tx,
  executionId: string,
  invocation: string,
): Promise<PastRun | undefined> {
  const graph = z.guid().safeParse(invocation);
  if (!graph.success) return undefined;
  const [row] = await tx.many(
    PastRun,
    sql`
      select ${columns} from run join graph on graph.id = run.graph_id
      where run.graph_id = ${graph.data} and run.execution_id = ${executionId}
        and run.action_digest is not null
      order by run.number desc limit 1
    `,
  );
  return row;
}

/** Returns the last run of a job in a graph that ended in a state. */
export async function lastRunOf(
  tx: Tx,
  graph: GraphId,
  job: string,
  state: "succeeded" | "failed",
): Promise<PastRun | undefined> {
  const outcome =
    state === "succeeded"
      ? sql`run.outcome = 'succeeded'`
      : sql`run.outcome is not null and run.outcome <> 'succeeded'`;
  const [row] = await tx.many(
    PastRun,
    sql`
      select ${columns} from run join graph on graph.id = run.graph_id
      where run.graph_id = ${graph} and run.job = ${job} and run.action_digest is not null
        and ${outcome}
      order by run.number desc limit 1
    `,
  );
  return row;
}
