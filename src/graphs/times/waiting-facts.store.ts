import { z } from "zod";
import { JobKind, RunServer } from "#api/graph.ts";
import { JobState } from "#api/job-state.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { queuePosition } from "#execution/claiming/queue-position.store.ts";
import { ExecutionId } from "#execution/execution.ts";
import type { QueueTimes } from "#execution/queue-times.ts";
import type { GraphId } from "../graph-id.ts";
import { rootOf } from "./root-of.store.ts";
import type { JobStanding, WaitingFacts } from "./why-waiting.ts";

const JobRow = z.object({
  name: z.string(),
  state: JobState,
  kind: JobKind,
  reason: z.string().nullable(),
  readyAt: z.date().nullable(),
  preparingUntil: z.date().nullable(),
  failures: z.number(),
  openEdges: z.number(),
  outside: z.boolean(),
  repository: z.string(),
  branch: z.string(),
  servedBy: RunServer.nullable(),
  dueAt: z.date().nullable(),
  executionId: ExecutionId.nullable(),
  release: z.array(z.string()).nullable(),
  message: z.string().nullable(),
});
type JobRow = z.infer<typeof JobRow>;

type Times = Pick<QueueTimes, "leaseMs" | "overdueAfterMs">;

/** The text with which ready-job.store.ts begins the reason of a job that it postpones. */
const postponed = /^cannot be prepared, trying again: /;
/** The limit for names in one reason. */
const mostNamed = 10;
/** The limit up to which ready jobs ahead are counted. */
const mostCounted = 1_000;

/**
 * Returns the facts about why a job does not run: null when it runs or has ended, undefined when there is no such job.
 *
 * Run it in a transaction. For a blocked job, it also reads the facts of the first job in the chain that can move.
 */
export async function waitingFacts(
  tx: Tx,
  graphId: GraphId,
  name: string,
  now: Date,
  times: Times,
): Promise<WaitingFacts | null | undefined> {
  const job = await jobRow(tx, graphId, name);
  if (job === undefined) return undefined;
  if (job.state !== "blocked") return factsOf(tx, graphId, job, now, times);
  const first = await rootOf(tx, graphId, name);
  const root = first === undefined ? undefined : await jobRow(tx, graphId, first);
  return {
    kind: "blocked",
    jobs: await awaitedBy(tx, graphId, name),
    count: job.openEdges,
    root:
      root === undefined
        ? null
        : {
            name: root.name,
            state: root.state,
            facts: await factsOf(tx, graphId, root, now, times),
          },
  };
}

/** Returns the facts of a job that does not wait for another job. */
async function factsOf(
  tx: Tx,
  graphId: GraphId,
  job: JobRow,
  now: Date,
  times: Times,
): Promise<WaitingFacts | null> {
  switch (job.state) {
    case "waiting": {
      const { name, kind, release, ...rest } = job;
      return { ...rest, kind: "held", job: name, jobKind: kind, release: release ?? [] };
    }
    case "ready": {
      if (job.outside) return { kind: "outside" };
      const { preparingUntil, failures } = job;
      const trouble = job.reason?.replace(postponed, "") ?? null;
      const needsMachine = job.kind === "command" || job.kind === "graph";
      const ahead = needsMachine ? await readyBefore(tx, graphId, job) : 0;
      return { kind: "ready", preparingUntil, failures, trouble, ahead };
    }
    case "queued": {
      if (job.servedBy === "outside") return { kind: "outside" };
      const execution = job.executionId ?? (await firstBatch(tx, graphId, job.name));
      if (execution === undefined) return null;
      const position = await queuePosition(tx, execution, now, times);
      return position === undefined ? null : { kind: "in-queue", position };
    }
    case "blocked":
    case "inactive":
    case "unreachable":
    case "running":
    case "succeeded":
    case "failed":
    case "cancelled":
    case "expired":
    case "coalesced":
      return null;
  }
}

async function jobRow(tx: Tx, graphId: GraphId, name: string): Promise<JobRow | undefined> {
  const [row] = await tx.many(
    JobRow,
    sql`
      select job.name, job.state, job.kind, job.reason, job.ready_at as "readyAt",
        job.preparing_until as "preparingUntil", job.preparing_failures as failures,
        job.open_edges as "openEdges", job.outside, graph.repository, graph.branch,
        run.served_by as "servedBy", run.due_at as "dueAt", run.execution_id as "executionId",
        definition.body->'release' as release, definition.body->>'message' as message
      from job
      join graph on graph.id = job.graph_id
      join definition on definition.digest = job.definition
      left join run on run.graph_id = job.graph_id and run.job = job.name and run.number = job.runs
      where job.graph_id = ${graphId} and job.name = ${name}
    `,
  );
  return row;
}

/** Returns the first queued batch of a job whose items workers share, when none has started. */
async function firstBatch(tx: Tx, graphId: GraphId, job: string): Promise<ExecutionId | undefined> {
  const [row] = await tx.many(
    z.object({ id: ExecutionId }),
    sql`
      select execution_id as id from work_batch
      where graph_id = ${graphId} and job = ${job} and state = 'queued'
      order by run desc, number
      limit 1
    `,
  );
  return row?.id;
}

/** Returns some of the jobs that a job directly waits for. */
function awaitedBy(tx: Tx, graphId: GraphId, name: string): Promise<JobStanding[]> {
  return tx.many(
    z.object({ name: z.string(), state: JobState }),
    sql`
      select awaited.name, awaited.state
      from edge join job as awaited on awaited.graph_id = edge.graph_id and awaited.name = edge.on_job
      where edge.graph_id = ${graphId} and edge.job = ${name} and edge.status = 'open'
      order by awaited.name
      limit ${mostNamed}
    `,
  );
}

/** Returns how many ready jobs, of all graphs, are prepared before this one. */
async function readyBefore(tx: Tx, graphId: GraphId, job: JobRow): Promise<number> {
  const [row] = await tx.many(
    z.object({ ahead: z.number() }),
    sql`
      select count(*) as ahead from (
        select from job
        where state = 'ready' and kind in ('command', 'graph')
          and (preparing_until is null or preparing_until <= now())
          and (ready_at, graph_id, name) < (${job.readyAt}, ${graphId}, ${job.name})
        order by ready_at, graph_id, name
        limit ${mostCounted}
      ) as sooner
    `,
  );
  return row?.ahead ?? 0;
}
