import { randomUUID } from "node:crypto";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { ExecutionId, type ExecutionRequest } from "#execution/execution.ts";
import { replaceExecutions } from "#execution/submitting/replace-executions.store.ts";
import { similarityKeysOf } from "#execution/submitting/similarity-keys.ts";
import { submitExecutions } from "#execution/submitting/submit-executions.store.ts";
import { advanceStoredGraphs, lockGraphs } from "./advancing/advance.store.ts";
import { type Approximated, keepApproximations } from "./approximations/approximation.store.ts";
import { insertChunkedRun } from "./chunks/chunked-run.store.ts";
import { nextBatches } from "./chunks/share-items.ts";
import { urgencyOf } from "./graph-priority.store.ts";
import { insertRuns, type NewRun } from "./insert-runs.store.ts";
import { spanOfExecutionOf } from "./job-span.ts";
import { wakeServerJobs } from "./kinds/server-job.store.ts";
import type { Prepared } from "./prepare-job.ts";
import { graphEventsOf } from "./queue-events.ts";
import { type JobUrgency, type ReadyJob, stillTaken, takenKey } from "./ready-job.store.ts";

/** A job whose preparation has ended, with success or not. */
export interface PreparedJob {
  readonly job: ReadyJob;
  readonly prepared: Prepared | { readonly kind: "unpreparable"; readonly message: string };
}

/**
 * Creates the runs of prepared jobs: one transaction from "ready" to "queued", or to the end if the result is known.
 *
 * Jobs that were cancelled or taken by another server meanwhile are skipped. Throws `aborted` when that happens during
 * the transaction; then retry.
 */
export async function commitPrepared(
  tx: Tx,
  all: readonly PreparedJob[],
  /** The requests of the jobs to execute (`requestsOf`). */
  wanted: ReadonlyMap<PreparedJob, ExecutionRequest>,
  now: Date,
): Promise<void> {
  const before = await stillTaken(
    tx,
    all.map(({ job }) => job),
  );
  const jobs = all.filter(({ job }) => before.has(takenKey(job)));
  // Executions are locked before graphs, as everywhere.
  const submitted = await submitExecutions(
    tx,
    jobs.flatMap((job) => wanted.get(job) ?? []),
    now,
  );
  const servedBy = new Map(submitted.map(({ requestId, executionId }) => [requestId, executionId]));
  const executionOf = (job: PreparedJob) => {
    const request = wanted.get(job);
    return request && servedBy.get(request.id);
  };

  const graphs = await lockGraphs(
    tx,
    jobs.map(({ job }) => job.graphId),
  );
  const after = await stillTaken(
    tx,
    jobs.map(({ job }) => job),
  );
  if (after.size < jobs.length)
    throw new Fault("aborted", "a job was removed while it was prepared");

  const runs = jobs.map((job) => runOf(job, executionOf(job), now));
  await insertRuns(tx, runs);
  // The graph's priority was changed before this transaction had its lock; that change did not include these
  // executions.
  const late = jobs
    .filter(({ job }) => !isAsWanted(job, after.get(takenKey(job))))
    .flatMap((job) => executionOf(job) ?? []);
  if (late.length > 0) await replaceExecutions(tx, await urgencyOf(tx, late));
  await keepApproximations(tx, jobs.flatMap(approximatedBy));
  await beginChunks(tx, jobs, now);
  await advanceStoredGraphs(
    tx,
    graphEventsOf(
      graphs,
      jobs.map(({ job }) => job),
    ),
  );
  if (runs.some(({ kind }) => kind === "to-plan")) await wakeServerJobs(tx);
}

function isAsWanted(job: JobUrgency, now: JobUrgency | undefined): boolean {
  return now !== undefined && job.priority === now.priority && job.top === now.top;
}

function approximatedBy({ job, prepared }: PreparedJob): Approximated[] {
  if (prepared.kind !== "to-execute" && prepared.kind !== "hit") return [];
  if (prepared.names === undefined) return [];
  const { over, weak } = prepared.names;
  const action = prepared.kind === "hit" ? prepared.actionDigest : prepared.built.action.digest;
  const { domain, project } = job;
  return [
    ...(over === undefined
      ? []
      : [{ kind: "over", project, domain, approximation: over, action } as const]),
    { kind: "weak", project, domain, approximation: weak, action },
  ];
}

async function beginChunks(tx: Tx, jobs: readonly PreparedJob[], now: Date): Promise<void> {
  const chunked = jobs.flatMap(({ prepared }) => (prepared.kind === "items" ? [prepared.run] : []));
  if (chunked.length === 0) return;
  for (const run of chunked) await insertChunkedRun(tx, run);
  await nextBatches(tx, chunked, now);
}

/** Returns the requests to the queue for the jobs without a known result. */
export async function requestsOf(
  jobs: readonly PreparedJob[],
  chooseSizes: (requests: readonly ExecutionRequest[]) => Promise<readonly ExecutionRequest[]>,
): Promise<ReadonlyMap<PreparedJob, ExecutionRequest>> {
  const requests = jobs.flatMap((job) => {
    const request = requestOf(job);
    return request === undefined ? [] : [{ job, request }];
  });
  const sized = await chooseSizes(requests.map(({ request }) => request));
  return new Map(requests.map(({ job, request }, i) => [job, sized[i] ?? request]));
}

function requestOf({ job, prepared }: PreparedJob): ExecutionRequest | undefined {
  if (prepared.kind !== "to-execute") return undefined;
  const { built } = prepared;
  return {
    id: ExecutionId.parse(randomUUID()),
    project: job.project,
    domain: job.domain,
    actionDigest: built.action.digest,
    platform: built.platform,
    sizeClass: built.sizeClasses.least,
    mostSizeClass: built.sizeClasses.most,
    title: job.job,
    similarityKeys: similarityKeysOf({
      commandDigest: built.command.digest,
      platform: built.platform,
      target: job.job,
      mnemonic: "job",
      configuration: "",
    }),
    // In REv2, lower priorities come first; in the API, higher ones.
    priority: 0 - job.priority,
    top: job.top,
    invocation: job.graphId,
    owner: job.submittedBy,
    timeoutMs: built.timeoutMs,
    doNotCache: false,
    span: spanOfExecutionOf(job, job.traceId),
  };
}

function runOf(
  { job, prepared }: PreparedJob,
  executionId: ExecutionId | undefined,
  now: Date,
): NewRun {
  const { graphId, cause } = job;
  const about = { graphId, job: job.job, cause, inputRuns: job.inputRuns };
  switch (prepared.kind) {
    case "unpreparable":
      return { ...about, kind: "unpreparable", message: prepared.message };
    case "hit":
      // The cached result of a graph job contains its definitions; the graph made from them still
      // has to run.
      if (job.definition.kind === "graph")
        return { ...about, ...prepared, kind: "to-plan", dueAt: now };
      return { ...about, ...prepared };
    case "to-plan":
      return {
        ...about,
        kind: "to-plan",
        actionDigest: null,
        result: null,
        madeAt: null,
        dueAt: now,
      };
    case "items":
      return { ...about, kind: "items" };
    case "to-execute":
      if (executionId === undefined) throw new Fault("internal", `no execution serves ${job.job}`);
      return { ...about, kind: "queued", actionDigest: prepared.built.action.digest, executionId };
  }
}
