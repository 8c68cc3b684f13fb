import { type DescMethod, fromBinary } from "@bufbuild/protobuf";
import type { ReadLog } from "#caches/rev2/byte-stream-service.ts";
import { projectOf } from "#caches/rev2/project-of.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { CallContext } from "#grpc/call-context.ts";
import { decodeRequest } from "#grpc/decode-request.ts";
import type { Metadata } from "#grpc/metadata.ts";
import { type Method, rawMethod, type ServerCall } from "#grpc/method.ts";
import {
  type ActionResult,
  ExecuteRequestSchema,
  ExecuteResponseSchema,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import { PublishBuildEvent } from "#proto/google/devtools/build/v1/publish_build_event_pb.ts";
import { OperationSchema, Operations } from "#proto/google/longrunning/operations_pb.ts";
import type { Relay } from "../farm/relay.ts";
import { inputUploader } from "./upload-inputs.ts";

/** Headers that describe one connection and are not passed on to another. */
const ofThisConnection = new Set([
  "user-agent",
  "content-length",
  "accept-encoding",
  "x-grange-build",
]);

/** Called for each action that the farm executed for a tool. */
export type NoteExecuted = (
  project: string,
  action: Digest,
  result: ActionResult,
  context: CallContext,
) => void;

/**
 * Returns methods that only the farm implements, which pass messages on one by one: executions, operations, and build
 * events.
 *
 * Inputs of an action that were uploaded to the granary are first uploaded to the farm.
 */
export function relayedMethods(
  relay: Relay,
  local: BlobStore,
  requireOwn: (context: CallContext) => Promise<void>,
  noteExecuted: NoteExecuted,
): Method[] {
  const inputs = inputUploader(local);
  const { execute } = Execution.method;
  const others = [
    ...Object.values(Execution.method).filter((method) => method !== execute),
    ...Object.values(Operations.method),
    ...Object.values(PublishBuildEvent.method),
  ];
  return [
    rawMethod(execute, async (call) => {
      await requireOwn(call.context);
      const message = await call.requests.only();
      const request = decodeRequest(execute, ExecuteRequestSchema, message);
      const { instanceName, actionDigest, digestFunction } = request;
      const action = fromDigestMessage(actionDigest, "the action", digestFunction);
      const project = projectOf(instanceName);
      await inputs.bring(relay.blobs(project), project, action);
      const { context } = call;
      const onAnswer = (answer: Uint8Array) => {
        const result = resultIn(answer);
        if (result !== undefined) noteExecuted(project, action, result, context);
      };
      try {
        await passOn(relay, execute, call, [message], onAnswer);
      } catch (reason) {
        if (reason instanceof Fault && reason.code === "failed_precondition") inputs.forget();
        throw reason;
      }
    }),
    ...others.map((method) =>
      rawMethod(method, async (call) => {
        await requireOwn(call.context);
        await passOn(relay, method, call, call.requests);
      }),
    ),
  ];
}

/**
 * Returns the methods for the logs of the farm's executions, which are read at the farm that
 * reported their operations.
 */
export function relayedLogs(
  relay: Relay,
  requireOwn: (context: CallContext) => Promise<void>,
): ReadLog {
  return async (_name, _request, call, message) => {
    await requireOwn(call.context);
    await passOn(relay, ByteStream.method.read, call, [message]);
  };
}

async function passOn(
  relay: Relay,
  method: DescMethod,
  { context, send }: ServerCall,
  requests: AsyncIterable<Uint8Array> | readonly Uint8Array[],
  onAnswer: (answer: Uint8Array) => void = () => {},
): Promise<void> {
  const { deadline, signal } = context;
  const answers = relay.raw(method, requests, {
    signal,
    metadata: forTheFarm(context.metadata),
    ...(deadline === undefined ? {} : { timeoutMs: Math.max(1, deadline.getTime() - Date.now()) }),
    onTrailers: (trailers) => {
      context.trailers = trailers;
    },
  });
  for await (const answer of answers) {
    onAnswer(answer);
    await send(answer);
  }
}

/** Returns the result of a successful operation. The tool itself reports an unreadable result. */
function resultIn(answer: Uint8Array): ActionResult | undefined {
  try {
    const { done, result } = fromBinary(OperationSchema, answer);
    if (!done || result.case !== "response") return undefined;
    const { status, result: made } = fromBinary(ExecuteResponseSchema, result.value.value);
    return (status?.code ?? 0) === 0 ? made : undefined;
  } catch {
    return undefined;
  }
}

function forTheFarm(metadata: Metadata): Metadata {
  return Object.fromEntries(
    Object.entries(metadata).filter(([name]) => !ofThisConnection.has(name)),
  );
}
