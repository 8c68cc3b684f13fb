import { fromBinary } from "@bufbuild/protobuf";
import { imageOfResult } from "#actions/image-of-result.ts";
import type { ExecutionDetail } from "#api/execution.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { digestKey, functionOf } from "#core/digest.ts";
import type { Db } from "#db/db.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { executionTerms } from "#execution/execution-standing.store.ts";
import { persistentRequestOf } from "#execution/persistent-request-of.ts";
import { readAttempts, readExecutions } from "#execution/read-executions.store.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { executionOutputs } from "./execution-outputs.ts";
import { readAction } from "./read-command.ts";
import { requestedBy } from "./requested-by.store.ts";

/** The maximum number of lines in a page; nobody reads more. */
const mostOutputs = 2_000;

/**
 * Returns an execution with all known facts, except the reason why it waits and the job that it serves; undefined when it
 * is unknown.
 */
export async function readExecution(
  { db, blobsOf }: { readonly db: Db; readonly blobsOf: (project: string) => BlobStore },
  id: ExecutionId,
): Promise<Omit<ExecutionDetail, "waiting" | "job"> | undefined> {
  const [[view], terms, attempts, askers] = await Promise.all([
    readExecutions(db, [id]),
    executionTerms(db, id),
    readAttempts(db, id),
    requestedBy(db, id),
  ]);
  if (view === undefined || terms === undefined) return undefined;
  const { finished } = view;
  const outputs =
    finished?.result === undefined
      ? []
      : executionOutputs(finished.result, functionOf(view.actionDigest));
  const { command, inputRoot } = await readAction(blobsOf(view.project), view.actionDigest);
  const { domain, sizeClass, priority, timeoutMs, expectedDurationMs, state, worker } = terms;
  return {
    id,
    project: view.project,
    domain,
    actionDigest: digestKey(view.actionDigest),
    inputRoot,
    command,
    state,
    worker,
    sizeClass,
    priority,
    timeoutMs,
    expectedDurationMs,
    queuedAt: terms.queuedAt.toISOString(),
    leasedAt: isoOrNull(terms.leasedAt),
    startedAt: isoOrNull(terms.startedAt),
    finishedAt: isoOrNull(terms.finishedAt),
    outcome: finished?.outcome ?? null,
    exitCode: finished?.exitCode ?? null,
    message: finished?.message ?? "",
    image: imageIn(finished?.result) ?? null,
    persistentRequest: persistentRequestIn(finished?.result),
    usage: finished?.usage ?? null,
    outputs: outputs.slice(0, mostOutputs),
    moreOutputs: Math.max(0, outputs.length - mostOutputs),
    attempts: attempts.map((attempt) => ({
      ...attempt,
      leasedAt: attempt.leasedAt.toISOString(),
      startedAt: isoOrNull(attempt.startedAt),
      finishedAt: attempt.finishedAt.toISOString(),
    })),
    requestedBy: askers,
  };
}

function imageIn(result: Uint8Array | undefined): ExecutionDetail["image"] | undefined {
  return result && imageOfResult(fromBinary(ActionResultSchema, result));
}

function persistentRequestIn(result: Uint8Array | undefined): number {
  return result === undefined ? 0 : persistentRequestOf(fromBinary(ActionResultSchema, result));
}

function isoOrNull(time: Date | null): string | null {
  return time?.toISOString() ?? null;
}
