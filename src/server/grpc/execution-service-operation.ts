import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { anyPack, timestampFromDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { logStreamName } from "#caches/rev2/log-stream-name.ts";
import { missingBlobs } from "#caches/rev2/missing-blobs.ts";
import { functionValueOf, toDigestMessage } from "#cas/digest-message.ts";
import { defaultProject } from "#core/default-project.ts";
import type { Digest } from "#core/digest.ts";
import type { FinishedExecution } from "#execution/finishing/finished-execution.ts";
import type { ExecutionView } from "#execution/read-executions.store.ts";
import {
  type ActionResult,
  ActionResultSchema,
  ExecutedActionMetadataSchema,
  ExecuteOperationMetadataSchema,
  ExecuteResponseSchema,
  ExecutionStage_Value,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { OperationSchema } from "#proto/google/longrunning/operations_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import type { StatusSchema } from "#proto/google/rpc/status_pb.ts";

export type OperationInit = MessageInitShape<typeof OperationSchema>;
type ExecuteResponseInit = MessageInitShape<typeof ExecuteResponseSchema>;
type StatusInit = MessageInitShape<typeof StatusSchema>;

/** Returns the REv2 operation of an execution that has not finished. */
export function ongoing(
  name: string,
  { id, project, attempt, actionDigest, queuedAt, state }: ExecutionView,
): OperationInit {
  const partialExecutionMetadata: MessageInitShape<typeof ExecutedActionMetadataSchema> = {
    queuedTimestamp: timestampFromDate(queuedAt),
  };
  if (state.kind !== "leased" || state.startedAt === undefined) {
    // An execution that was leased but has not started is still waiting: a worker claims more than it can run at once.
    const stage = ExecutionStage_Value.QUEUED;
    return { name, metadata: metadata(actionDigest, { stage, partialExecutionMetadata }) };
  }
  partialExecutionMetadata.worker = state.worker;
  partialExecutionMetadata.workerStartTimestamp = timestampFromDate(state.startedAt);
  const log = (stream: "stdout" | "stderr") =>
    logStreamName(project === defaultProject ? "" : project, { executionId: id, attempt, stream });
  const known = {
    stage: ExecutionStage_Value.EXECUTING,
    partialExecutionMetadata,
    stdoutStreamName: log("stdout"),
    stderrStreamName: log("stderr"),
  };
  return { name, metadata: metadata(actionDigest, known) };
}

/** `Operation.error` is never set: some clients throw at it, others retry. Errors are inside the response. */
export function completed(
  name: string,
  digest: Digest,
  response: ExecuteResponseInit,
): OperationInit {
  return {
    name,
    metadata: metadata(digest, { stage: ExecutionStage_Value.COMPLETED }),
    done: true,
    result: {
      case: "response",
      value: anyPack(ExecuteResponseSchema, create(ExecuteResponseSchema, response)),
    },
  };
}

function metadata(digest: Digest, known: MessageInitShape<typeof ExecuteOperationMetadataSchema>) {
  return anyPack(
    ExecuteOperationMetadataSchema,
    create(ExecuteOperationMetadataSchema, {
      ...known,
      actionDigest: toDigestMessage(digest),
      digestFunction: functionValueOf(digest),
    }),
  );
}

/** Returns the response of a cancelled operation, whatever its execution does. */
export function cancelledResponse(why: string): ExecuteResponseInit {
  return { status: { code: Code.CANCELLED, message: why } };
}

/**
 * Returns the response for an execution that no worker could run. Without details, so that clients do not retry: the
 * same request would fail again.
 */
export function unservedResponse(why: string): ExecuteResponseInit {
  return { status: { code: Code.FAILED_PRECONDITION, message: why } };
}

/** Returns the response of a finished execution. `missing`: all blobs that it lacked. */
export function responseOf(
  finished: FinishedExecution,
  missing: readonly Digest[],
): ExecuteResponseInit & { readonly result?: ActionResult } {
  const result = finished.result === undefined ? undefined : withTimes(finished, finished.result);
  return {
    ...(result === undefined ? {} : { result }),
    status: missing.length > 0 ? missingBlobs(missing) : statusOfEnd(finished, result),
    message: finished.message,
  };
}

/**
 * Returns how an end is reported in `ExecuteResponse.status`.
 *
 * A process that ended is OK whatever its exit code. A timeout must be DEADLINE_EXCEEDED here and only here: Bazel
 * detects a test's timeout by this code, and retries when it gets the same code as the status of the call.
 */
function statusOfEnd(finished: FinishedExecution, result: ActionResult | undefined): StatusInit {
  const { message } = finished;
  switch (finished.outcome) {
    case "succeeded":
    case "failed":
      // The process succeeded, but its outputs were of the wrong kind or could not be stored.
      if (result?.exitCode === 0 && finished.outcome === "failed")
        return { code: Code.FAILED_PRECONDITION, message: message || "its outputs are refused" };
      if (result !== undefined) return { code: Code.OK };
      return { code: Code.INVALID_ARGUMENT, message: message || "the action could not be run" };
    case "timed_out":
      return { code: Code.DEADLINE_EXCEEDED, message: message || "the action took too long" };
    case "out_of_memory":
      if (result !== undefined && result.exitCode !== 0) return { code: Code.OK };
      return { code: Code.RESOURCE_EXHAUSTED, message: message || "the action ran out of memory" };
    case "cancelled":
      return { code: Code.CANCELLED, message: message || "the execution was cancelled" };
    case "worker_lost":
    case "infrastructure_error":
      return {
        code: Code.INTERNAL,
        message: `given up after ${finished.attempt} attempts: ${message}`,
      };
  }
}

/** Fills in the times that the queue knows. Unset ends would give absurd spans. */
function withTimes(finished: FinishedExecution, bytes: Uint8Array): ActionResult {
  const result = fromBinary(ActionResultSchema, bytes);
  const known = result.executionMetadata ?? create(ExecutedActionMetadataSchema);
  const leasedAt = finished.leasedAt ?? finished.queuedAt;
  const startedAt = finished.startedAt ?? leasedAt;
  known.worker ||= finished.worker ?? "";
  known.workerStartTimestamp ??= timestampFromDate(leasedAt);
  // The worker's clock may be behind the farm's, and a span must not be negative.
  known.queuedTimestamp ??=
    finished.queuedAt.getTime() < timestampMs(known.workerStartTimestamp)
      ? timestampFromDate(finished.queuedAt)
      : known.workerStartTimestamp;
  known.workerCompletedTimestamp ??= timestampFromDate(finished.finishedAt);
  known.executionStartTimestamp ??= timestampFromDate(startedAt);
  known.executionCompletedTimestamp ??= known.workerCompletedTimestamp;
  known.inputFetchStartTimestamp ??= known.workerStartTimestamp;
  known.inputFetchCompletedTimestamp ??= known.executionStartTimestamp;
  known.outputUploadStartTimestamp ??= known.executionCompletedTimestamp;
  known.outputUploadCompletedTimestamp ??= known.workerCompletedTimestamp;
  result.executionMetadata = known;
  return result;
}
