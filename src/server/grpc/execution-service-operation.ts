import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { anyPack, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { toDigestMessage } from "#cas/digest-message.ts";
import type { Digest } from "#core/digest.ts";
import type { FinishedExecution } from "#execution/finished-execution.ts";
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
import { PreconditionFailureSchema } from "#proto/google/rpc/error_details_pb.ts";
import type { StatusSchema } from "#proto/google/rpc/status_pb.ts";

export type OperationInit = MessageInitShape<typeof OperationSchema>;
type StatusInit = MessageInitShape<typeof StatusSchema>;

const prefix = "executions/";

export function operationName(executionId: string): string {
  return `${prefix}${executionId}`;
}

/** The execution's id in an operation's name; undefined when it is none of ours. */
export function executionIdIn(name: string): string | undefined {
  return name.startsWith(prefix) ? name.slice(prefix.length) : undefined;
}

/** An execution, as REv2 clients see it. */
export function operationOf(view: ExecutionView): OperationInit {
  const name = operationName(view.id);
  const { state } = view;
  switch (state.kind) {
    case "queued":
      return ongoing(name, view.actionDigest, ExecutionStage_Value.QUEUED);
    case "leased":
      // Handed out but not begun is still waiting: a worker takes more than it can run at once.
      return ongoing(
        name,
        view.actionDigest,
        state.startedAt === undefined
          ? ExecutionStage_Value.QUEUED
          : ExecutionStage_Value.EXECUTING,
      );
    case "finished":
      return completed(
        name,
        view.actionDigest,
        view.finished === undefined
          ? { status: { code: Code.INTERNAL, message: "" } }
          : responseOf(view.finished),
      );
  }
}

function ongoing(name: string, digest: Digest, stage: ExecutionStage_Value): OperationInit {
  return { name, metadata: metadata(digest, stage), done: false };
}

/** `Operation.error` is never set: some clients throw at it, others retry. Errors are inside the response. */
export function completed(
  name: string,
  digest: Digest,
  response: MessageInitShape<typeof ExecuteResponseSchema>,
): OperationInit {
  return {
    name,
    metadata: metadata(digest, ExecutionStage_Value.COMPLETED),
    done: true,
    result: {
      case: "response",
      value: anyPack(ExecuteResponseSchema, create(ExecuteResponseSchema, response)),
    },
  };
}

function metadata(digest: Digest, stage: ExecutionStage_Value) {
  return anyPack(
    ExecuteOperationMetadataSchema,
    create(ExecuteOperationMetadataSchema, { stage, actionDigest: toDigestMessage(digest) }),
  );
}

function responseOf(finished: FinishedExecution): MessageInitShape<typeof ExecuteResponseSchema> {
  const result = finished.result === undefined ? undefined : withTimes(finished, finished.result);
  return {
    ...(result === undefined ? {} : { result }),
    status: statusOfEnd(finished, result),
    message: finished.message,
  };
}

/**
 * How an end is said in `ExecuteResponse.status`.
 *
 * A process that ended is OK whatever its exit code. A timeout must be DEADLINE_EXCEEDED here and only
 * here: Bazel recognises a test's timeout by it, and retries the same code on the wire.
 */
function statusOfEnd(finished: FinishedExecution, result: ActionResult | undefined): StatusInit {
  if (finished.missingInputs.length > 0) return missingBlobs(finished.missingInputs);
  const { message } = finished;
  switch (finished.outcome) {
    case "succeeded":
    case "failed":
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

/**
 * The one form of "upload these and try again" that all clients understand: a single
 * PreconditionFailure, nothing but violations of type MISSING, all blobs at once.
 */
export function missingBlobs(digests: readonly Digest[]): StatusInit {
  return {
    code: Code.FAILED_PRECONDITION,
    message: `${digests.length} input blobs are missing`,
    details: [
      anyPack(
        PreconditionFailureSchema,
        create(PreconditionFailureSchema, {
          violations: digests.map(({ hash, sizeBytes }) => ({
            type: "MISSING",
            subject: `blobs/${hash}/${sizeBytes}`,
          })),
        }),
      ),
    ],
  };
}

/** Fills in the times that the queue knows. Unset ends would give absurd spans. */
function withTimes(finished: FinishedExecution, bytes: Uint8Array): ActionResult {
  const result = fromBinary(ActionResultSchema, bytes);
  const known = result.executionMetadata ?? create(ExecutedActionMetadataSchema);
  known.worker ||= finished.worker ?? "";
  known.queuedTimestamp ??= timestampFromDate(finished.queuedAt);
  known.workerStartTimestamp ??= timestampFromDate(finished.leasedAt ?? finished.queuedAt);
  known.workerCompletedTimestamp ??= timestampFromDate(finished.finishedAt);
  result.executionMetadata = known;
  return result;
}
