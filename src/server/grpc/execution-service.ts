import { randomUUID } from "node:crypto";
import { fromBinary } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { highestPriority, lowestPriority } from "#access/principal.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { Platform } from "#core/platform.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import { ExecutionId } from "#execution/execution.ts";
import type { ExecutionQueue } from "#execution/execution-queue.ts";
import type { CallContext } from "#grpc/call-context.ts";
import type { Metadata } from "#grpc/metadata.ts";
import { type Method, methodsOf } from "#grpc/method.ts";
import {
  type Action,
  type ActionResult,
  ActionSchema,
  type Command,
  CommandSchema,
  DigestFunction_Value,
  type ExecuteRequest,
  Execution,
  RequestMetadataSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import {
  completed,
  executionIdIn,
  missingBlobs,
  type OperationInit,
  operationName,
  operationOf,
} from "./execution-service-operation.ts";

/** Whose cache and queue a call is about. Derived by the server; no client names a domain. */
export interface Scope {
  readonly project: string;
  readonly domain: TrustDomain;
}

export interface ExecutionServiceParts {
  readonly queue: ExecutionQueue;
  readonly blobs: BlobStore;
  readonly scopeOf: (instanceName: string, context: CallContext) => Scope;
  /** The action cache's answer; undefined when there is none that may be used. */
  readonly lookUpResult: (scope: Scope, action: Digest) => Promise<ActionResult | undefined>;
  /** For actions that name none. */
  readonly defaultTimeoutMs: number;
}

/** REv2's Execution service on our queue. */
export function executionService(parts: ExecutionServiceParts): Method[] {
  return methodsOf(Execution, {
    execute: (request, context) => execute(request, context, parts),
    waitExecution: (request, { signal }) => follow(request.name, signal, parts.queue),
  });
}

async function* execute(
  request: ExecuteRequest,
  context: CallContext,
  parts: ExecutionServiceParts,
): AsyncGenerator<OperationInit, void> {
  if (
    request.digestFunction !== DigestFunction_Value.UNKNOWN &&
    request.digestFunction !== DigestFunction_Value.SHA256
  ) {
    throw new Fault("invalid_argument", "this server names blobs by SHA-256 only");
  }
  const actionDigest = fromDigestMessage(request.actionDigest, "the request");
  const scope = parts.scopeOf(request.instanceName, context);
  const id = ExecutionId.parse(randomUUID());
  if (!request.skipCacheLookup) {
    const result = await parts.lookUpResult(scope, actionDigest);
    if (result !== undefined) {
      yield completed(operationName(id), actionDigest, { result, cachedResult: true, status: {} });
      return;
    }
  }
  const read = await readAction(actionDigest, parts.blobs);
  if (read.kind === "missing") {
    const status = missingBlobs(read.missing);
    yield completed(operationName(id), actionDigest, { status });
    return;
  }
  const { action, platform } = read;
  const submitted = await parts.queue.submit({
    ...scope,
    id,
    actionDigest,
    platform,
    sizeClass: sizeClassIn(platform),
    priority: priorityIn(request),
    invocation: invocationIn(context.metadata) ?? context.peer,
    timeoutMs: timeoutIn(action) ?? parts.defaultTimeoutMs,
    doNotCache: action.doNotCache,
  });
  yield* follow(operationName(submitted.executionId), context.signal, parts.queue);
}

/** The first Operation comes at once, so that a client whose stream breaks knows what to wait for. */
async function* follow(
  name: string,
  signal: AbortSignal,
  queue: ExecutionQueue,
): AsyncGenerator<OperationInit, void> {
  const id = ExecutionId.safeParse(executionIdIn(name));
  if (!id.success) throw new Fault("not_found", `there is no operation ${name}`);
  for await (const view of queue.follow(id.data, signal)) yield operationOf(view);
}

type ReadAction =
  | { readonly kind: "missing"; readonly missing: readonly Digest[] }
  | { readonly kind: "read"; readonly action: Action; readonly platform: Platform };

/**
 * Reads the action and its command, and sees whether the root of its inputs is there.
 *
 * What is missing deeper in the tree the worker finds, who must read the tree anyway.
 */
async function readAction(digest: Digest, blobs: BlobStore): Promise<ReadAction> {
  const bytes = await blobs.get(digest);
  if (bytes === undefined) return { kind: "missing", missing: [digest] };
  const action = decoded("action", () => fromBinary(ActionSchema, bytes));
  const commandDigest = fromDigestMessage(action.commandDigest, "the action's command");
  const rootDigest = fromDigestMessage(action.inputRootDigest, "the action's input root");
  const missing = await blobs.findMissing([commandDigest, rootDigest]);
  const commandBytes = missing.length > 0 ? undefined : await blobs.get(commandDigest);
  if (commandBytes === undefined)
    return { kind: "missing", missing: missing.length > 0 ? missing : [commandDigest] };
  const command = decoded("command", () => fromBinary(CommandSchema, commandBytes));
  return { kind: "read", action, platform: platformOf(action, command) };
}

function decoded<T>(what: string, decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    throw new Fault("invalid_argument", `the ${what} is not a REv2 message`, { cause });
  }
}

/** The action's platform counts; Buck2 and Pants set only the command's. */
function platformOf(action: Action, command: Command): Platform {
  const { properties } = action.platform ?? command.platform ?? { properties: [] };
  const platform = Platform.safeParse(
    Object.fromEntries(properties.map(({ name, value }) => [name, value])),
  );
  if (!platform.success || Object.keys(platform.data).length !== properties.length) {
    throw new Fault("invalid_argument", "the platform names a property twice, or one too long");
  }
  return platform.data;
}

function sizeClassIn(platform: Platform): number {
  const asked = platform["min-size-class"];
  if (asked === undefined) return 1;
  const sizeClass = Number(asked);
  if (Number.isInteger(sizeClass) && sizeClass >= 1) return sizeClass;
  throw new Fault("invalid_argument", `min-size-class is a positive integer, not ${asked}`);
}

/** No client of the protocol is more urgent than a graph may be; the top class it cannot name at all. */
function priorityIn({ executionPolicy }: ExecuteRequest): number {
  // Of graphs the higher is sooner, here the lower.
  return Math.min(-lowestPriority, Math.max(-highestPriority, executionPolicy?.priority ?? 0));
}

function timeoutIn(action: Action): number | undefined {
  if (action.timeout === undefined) return undefined;
  const ms = Math.round(durationMs(action.timeout));
  return ms > 0 ? ms : undefined;
}

function invocationIn(metadata: Metadata): string | undefined {
  const bytes = metadata["build.bazel.remote.execution.v2.requestmetadata-bin"];
  if (!(bytes instanceof Uint8Array)) return undefined;
  try {
    return fromBinary(RequestMetadataSchema, bytes).toolInvocationId || undefined;
  } catch {
    // A courtesy of the client's; no reason to refuse its work.
    return undefined;
  }
}
