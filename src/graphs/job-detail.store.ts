import { fromBinary } from "@bufbuild/protobuf";
import { z } from "zod";
import { outputSymlinksOf } from "#actions/result-paths.ts";
import { ErrorLine, FoundNumber } from "#api/findings.ts";
import { type JobDetail, type Run, RunCause, RunOutcome, RunServer } from "#api/graph.ts";
import { showableDefinition } from "#core/hide-secrets.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "#execution/execution.ts";
import { readExecutions } from "#execution/read-executions.store.ts";
import {
  ActionResultSchema,
  type Digest as DigestMessage,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { chunkProgress } from "./chunks/chunk-progress.store.ts";
import { definitionOfJob } from "./graph.store.ts";
import { GraphId } from "./graph-id.ts";
import { edgesOf, jobSummary } from "./graph-page.store.ts";
import { priorityOfJob } from "./graph-priority.store.ts";
import { graphSummary } from "./graph-summary.store.ts";
import { graphsMadeBy } from "./kinds/child-graph.store.ts";
import { notificationsOf } from "./kinds/notification.store.ts";
import { jobOrigin } from "./reruns/job-origin.store.ts";

/** Returns everything that a job's page shows, except why it waits; undefined when there is no such graph or job. */
export async function jobDetail(
  tx: Tx,
  graphId: GraphId,
  name: string,
): Promise<Omit<JobDetail, "waiting"> | undefined> {
  const graph = await graphSummary(tx, graphId);
  const job = graph && (await jobSummary(tx, graphId, name));
  if (graph === undefined || job === undefined) return undefined;
  return {
    graph,
    job,
    definition: showableDefinition(await definitionOfJob(tx, graphId, name)),
    priority: (await priorityOfJob(tx, graphId, name)) ?? 0,
    origin: await jobOrigin(tx, graphId, name),
    dependsOn: await edgesOf(tx, graphId, sql`job = ${name}`),
    dependedOnBy: await edgesOf(tx, graphId, sql`on_job = ${name}`),
    runList: await withWorkers(tx, await runsOf(tx, graphId, name)),
    chunks: (await chunkProgress(tx, graphId, name)) ?? null,
    notifications: job.kind === "notify" ? await notificationsOf(tx, graphId, name) : [],
    madeGraphs: job.kind === "graph" ? await graphsMadeBy(tx, graphId, name) : [],
  };
}

/** Adds the names of workers to unfinished runs; ended runs already have them. */
async function withWorkers(tx: Tx, runs: readonly Run[]): Promise<Run[]> {
  const underWay = runs.flatMap(({ state, executionId }) =>
    state === "running" && executionId !== null ? [ExecutionId.parse(executionId)] : [],
  );
  if (underWay.length === 0) return [...runs];
  const workers = new Map<string, string>();
  for (const { id, state } of await readExecutions(tx, underWay)) {
    if (state.kind === "leased") workers.set(id, state.worker);
  }
  return runs.map((run) => ({
    ...run,
    worker: run.worker ?? workers.get(run.executionId ?? "") ?? null,
  }));
}

const isoTime = z.date().transform((date) => date.toISOString());

const RunRow = z
  .object({
    number: z.number(),
    cause: RunCause,
    requestedBy: z.string().nullable(),
    why: z.string().nullable(),
    servedBy: RunServer,
    state: z.enum(["queued", "waiting", "running", "finished"]),
    outcome: RunOutcome.nullable(),
    exitCode: z.number().nullable(),
    message: z.string().nullable(),
    actionDigest: z.string(),
    executionId: z.string().nullable(),
    cached: z.boolean(),
    cachedFromGraph: z.string().nullable(),
    cachedFromJob: z.string().nullable(),
    cachedAt: isoTime.nullable(),
    attempt: z.number(),
    worker: z.string().nullable(),
    wantedAt: isoTime.nullable(),
    readyAt: isoTime.nullable(),
    queuedAt: isoTime,
    dueAt: isoTime.nullable(),
    startedAt: isoTime.nullable(),
    finishedAt: isoTime.nullable(),
    userMs: z.number().nullable(),
    systemMs: z.number().nullable(),
    peakMemoryBytes: z.number().nullable(),
    failureClass: z.string().nullable(),
    errorLines: z.array(ErrorLine),
    numbers: z.record(z.string(), FoundNumber),
    result: z.instanceof(Uint8Array).nullable(),
  })
  .transform(
    ({ cached, cachedFromGraph, cachedFromJob, cachedAt, result, ...row }): Run => ({
      ...row,
      cachedFrom:
        cached && cachedAt !== null
          ? { graphId: cachedFromGraph, job: cachedFromJob, at: cachedAt }
          : null,
      outputs: result === null ? [] : outputsIn(result),
    }),
  );

/** The runs of a job, the newest first. */
export function runsOf(tx: Tx, graphId: GraphId, job: string): Promise<Run[]> {
  return tx.many(
    RunRow,
    sql`
      select number, cause, asked_by as "requestedBy", why, served_by as "servedBy", state, outcome, exit_code as "exitCode", message,
             coalesce(action_digest, '') as "actionDigest", execution_id as "executionId",
             cached, cached_from_graph as "cachedFromGraph", cached_from_job as "cachedFromJob",
             cached_at as "cachedAt", attempt, worker,
             wanted_at as "wantedAt", ready_at as "readyAt", queued_at as "queuedAt", due_at as "dueAt",
             started_at as "startedAt", finished_at as "finishedAt", user_ms as "userMs",
             system_ms as "systemMs", peak_memory_bytes as "peakMemoryBytes",
             failure_class as "failureClass", error_lines as "errorLines", numbers, result
      from run
      where graph_id = ${graphId} and job = ${job}
      order by number desc
    `,
  );
}

function outputsIn(bytes: Uint8Array): Run["outputs"] {
  const result = fromBinary(ActionResultSchema, bytes);
  const named = (digest: DigestMessage | undefined) => ({
    digest: digest === undefined ? null : `${digest.hash}/${digest.sizeBytes}`,
    sizeBytes: digest === undefined ? null : Number(digest.sizeBytes),
  });
  return [
    ...result.outputFiles.map(({ path, digest }) => ({
      path,
      kind: "file" as const,
      ...named(digest),
    })),
    // The size of the Tree message, not of its content.
    ...result.outputDirectories.map(({ path, treeDigest }) => ({
      path,
      kind: "directory" as const,
      ...named(treeDigest),
      sizeBytes: null,
    })),
    ...outputSymlinksOf(result).map(({ path }) => ({
      path,
      kind: "symlink" as const,
      ...named(undefined),
    })),
  ];
}

export const RunOutput = z.object({
  /** Where its log and its outputs are. */
  project: z.string(),
  executionId: ExecutionId.nullable(),
  actionDigest: z.string().nullable(),
  attempt: z.number(),
  result: z.instanceof(Uint8Array).nullable(),
  cachedFromGraph: GraphId.nullable(),
  cachedFromJob: z.string().nullable(),
});
/** The facts that are needed to read a run's log and outputs. */
export type RunOutput = z.infer<typeof RunOutput>;

export async function runOutput(
  tx: Tx,
  graphId: GraphId,
  job: string,
  number: number,
): Promise<RunOutput | undefined> {
  const [row] = await tx.many(
    RunOutput,
    sql`
      select graph.project, execution_id as "executionId", action_digest as "actionDigest", attempt, result,
             cached_from_graph as "cachedFromGraph", cached_from_job as "cachedFromJob"
      from run join graph on graph.id = run.graph_id
      where graph_id = ${graphId} and job = ${job} and run.number = ${number}
    `,
  );
  return row;
}

const ServedJob = z.object({ executionId: ExecutionId, graphId: GraphId, job: z.string() });

/** Returns the jobs that executions currently serve, for the page of the workers. */
export function jobsServedBy(
  tx: Tx,
  ids: readonly ExecutionId[],
): Promise<z.infer<typeof ServedJob>[]> {
  return tx.many(
    ServedJob,
    sql`
      select distinct on (execution_id) execution_id as "executionId", graph_id as "graphId", job
      from run
      where execution_id = any(${ids}::uuid[]) and state <> 'finished'
      order by execution_id, queued_at
    `,
  );
}
