import { randomUUID } from "node:crypto";
import { toBinary } from "@bufbuild/protobuf";
import type { Logger } from "pino";
import { lookUpActionResult } from "#actions/action-cache.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { Db, Tx } from "#db/db.ts";
import { ExecutionId, type ExecutionRequest } from "#execution/execution.ts";
import { replaceExecutions } from "#execution/submitting/replace-executions.store.ts";
import { similarityKeysOf } from "#execution/submitting/similarity-keys.ts";
import { submitExecutions } from "#execution/submitting/submit-executions.store.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { advanceStoredGraph, lockGraphs } from "../advancing/advance.store.ts";
import type { BuiltAction } from "../build-action.ts";
import { urgencyOf } from "../graph-priority.store.ts";
import { spanOfExecutionOf } from "../job-span.ts";
import type { InProject } from "../project-of-jobs.ts";
import { withImages } from "../resolved-image.ts";
import { buildBatch } from "./build-batch.ts";
import { batchesDone } from "./share-items.ts";
import {
  type BatchEnd,
  finishPlannedBatch,
  type PlannedBatch,
  queueBatch,
  takePlannedBatches,
} from "./work-batch.store.ts";

export interface BatchServices {
  readonly db: Db;
  readonly inProject: InProject;
  readonly logger: Logger;
  /** The queue's own transaction: executions that are submitted in it are handed out right after the commit. */
  readonly transaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
  /** The queue's function that chooses size classes for executions. No choice when absent. */
  readonly chooseSizes?: (
    requests: readonly ExecutionRequest[],
  ) => Promise<readonly ExecutionRequest[]>;
}

const mostPerTurn = 16;
const atOnce = 4;
/** After this time, other servers take over the batches of a dead one. */
const turnMs = 15_000;

/** Makes planned batches into actions and submits them to the queue. Returns how many. */
export async function submitBatches(services: BatchServices, now: Date): Promise<number> {
  const until = new Date(now.getTime() + turnMs);
  const taken = await takePlannedBatches(services.db, now, until, mostPerTurn);
  await mapAtMost(atOnce, taken, (batch) => submitOne(services, batch, now));
  return taken.length;
}

async function submitOne(services: BatchServices, batch: PlannedBatch, now: Date): Promise<void> {
  try {
    const { store } = services.inProject(batch.project);
    const definition = withImages(batch.definition, batch.images);
    const built = await buildBatch(store, definition, batch.inputRoot, batch.items);
    const known = await knownResult(services, batch, built);
    if (known === undefined) await queueOne(services, batch, built, now);
    else await endPlanned(services, batch, known, now);
  } catch (reason) {
    const { graphId: graph, job, number } = batch;
    services.logger.warn(
      { graph, job, batch: number, reason: messageOf(reason) },
      "a batch could not be begun; trying again",
    );
    if (!(reason instanceof Fault)) return;
    // The inputs that its run was prepared with are gone, so no batch of it can begin.
    const lostInputs = reason.code === "failed_precondition";
    if (lostInputs || reason.code === "invalid_argument")
      await endPlanned(services, batch, { ...failedEnd(messageOf(reason)), lostInputs }, now);
  }
}

async function knownResult(
  { db, inProject }: BatchServices,
  batch: PlannedBatch,
  { action }: BuiltAction,
): Promise<BatchEnd | undefined> {
  if (batch.skipCache) return undefined;
  const { domain, project } = batch;
  const { trees } = inProject(project);
  const hit = await lookUpActionResult(db, trees, { project, domain, actionDigest: action.digest });
  if (hit === undefined) return undefined;
  const result = toBinary(ActionResultSchema, hit.result);
  const nobody = { message: null, worker: null, startedAt: null };
  return { ...nobody, outcome: "succeeded", result, cached: true };
}

function failedEnd(message: string): BatchEnd {
  const nothing = { worker: null, startedAt: null, result: null, cached: false };
  return { ...nothing, outcome: "failed", message };
}

async function queueOne(
  services: BatchServices,
  batch: PlannedBatch,
  built: BuiltAction,
  now: Date,
): Promise<void> {
  const request: ExecutionRequest = {
    id: ExecutionId.parse(randomUUID()),
    project: batch.project,
    domain: batch.domain,
    actionDigest: built.action.digest,
    platform: built.platform,
    sizeClass: built.sizeClasses.least,
    mostSizeClass: built.sizeClasses.most,
    title: batch.job,
    similarityKeys: similarityKeysOf({
      commandDigest: built.command.digest,
      platform: built.platform,
      target: batch.job,
      mnemonic: "batch",
      configuration: "",
    }),
    // In REv2, lower priorities come first; in the API, higher ones.
    priority: 0 - batch.priority,
    top: batch.top,
    invocation: batch.graphId,
    owner: batch.submittedBy,
    timeoutMs: built.timeoutMs,
    doNotCache: false,
    span: spanOfExecutionOf(batch, batch.traceId),
  };
  const sized = (await services.chooseSizes?.([request])) ?? [request];
  await services.transaction(async (tx) => {
    // Executions are locked before graphs, as everywhere.
    const [submitted] = await submitExecutions(tx, sized, now);
    const [graph] = await lockGraphs(tx, [batch.graphId]);
    if (submitted === undefined || graph === undefined)
      throw new Fault("internal", "a batch was not submitted");
    const { executionId } = submitted;
    const wanted = await queueBatch(tx, batch, built.action.digest, executionId);
    if (wanted === undefined)
      throw new Fault("aborted", "the batch was removed while it was prepared");
    // The graph's priority was changed before this transaction had its lock; that change did not include this
    // execution.
    if (wanted.priority !== batch.priority || wanted.top !== batch.top)
      await replaceExecutions(tx, await urgencyOf(tx, [executionId]));
    await advanceStoredGraph(tx, graph, [batch.job]);
  });
}

async function endPlanned(
  services: BatchServices,
  batch: PlannedBatch,
  end: BatchEnd & { readonly lostInputs?: boolean },
  now: Date,
): Promise<void> {
  await services.db.transaction(async (tx) => {
    const [graph] = await lockGraphs(tx, [batch.graphId]);
    if (graph === undefined) return;
    const ended = await finishPlannedBatch(tx, batch, end);
    if (ended.length === 0) return;
    const { lostInputs = false } = end;
    await batchesDone(
      tx,
      ended.map((each) => ({ ...each, lostInputs })),
      now,
    );
    await advanceStoredGraph(tx, graph, [batch.job]);
  });
}
