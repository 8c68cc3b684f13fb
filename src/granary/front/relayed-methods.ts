import type { DescMethod } from "@bufbuild/protobuf";
import { projectOf } from "#cache-protocols/rev2/project-of.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { Fault } from "#core/fault.ts";
import { decodeRequest } from "#grpc/decode-request.ts";
import type { Metadata } from "#grpc/metadata.ts";
import { type Method, rawMethod, type ServerCall } from "#grpc/method.ts";
import {
  ExecuteRequestSchema,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { PublishBuildEvent } from "#proto/google/devtools/build/v1/publish_build_event_pb.ts";
import { Operations } from "#proto/google/longrunning/operations_pb.ts";
import type { Relay } from "../farm/relay.ts";
import { inputBringer } from "./bring-inputs.ts";

/** Of one connection to another: what says how this one is spoken. */
const ofThisConnection = new Set([
  "user-agent",
  "content-length",
  "accept-encoding",
  "x-grange-build",
]);

/**
 * Calls that are the farm's alone, message by message as they come: executions, operations, and build events.
 *
 * Inputs of an action that were uploaded here are brought to the farm first.
 */
export function relayedMethods(relay: Relay, local: BlobStore): Method[] {
  const inputs = inputBringer(local);
  const { execute } = Execution.method;
  const others = [
    ...Object.values(Execution.method).filter((method) => method !== execute),
    ...Object.values(Operations.method),
    ...Object.values(PublishBuildEvent.method),
  ];
  return [
    rawMethod(execute, async (call) => {
      const message = await call.requests.only();
      const request = decodeRequest(execute, ExecuteRequestSchema, message);
      const { instanceName, actionDigest, digestFunction } = request;
      const action = fromDigestMessage(actionDigest, "the action", digestFunction);
      await inputs.bring(relay.blobs(projectOf(instanceName)), action);
      try {
        await passOn(relay, execute, call, [message]);
      } catch (reason) {
        if (reason instanceof Fault && reason.code === "failed_precondition") inputs.forget();
        throw reason;
      }
    }),
    ...others.map((method) =>
      rawMethod(method, (call) => passOn(relay, method, call, call.requests)),
    ),
  ];
}

async function passOn(
  relay: Relay,
  method: DescMethod,
  { context, send }: ServerCall,
  requests: AsyncIterable<Uint8Array> | readonly Uint8Array[],
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
  for await (const answer of answers) await send(answer);
}

function forTheFarm(metadata: Metadata): Metadata {
  return Object.fromEntries(
    Object.entries(metadata).filter(([name]) => !ofThisConnection.has(name)),
  );
}
