import { randomUUID } from "node:crypto";
import { jobLimits, requestedTooMuch } from "#access/job-limits.ts";
import { highestPriority, lowestPriority } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import { domainOfClient } from "#access/trust-domains/domain-of-client.ts";
import type { GrpcCallers } from "#caches/rev2/caller.ts";
import { finishResult } from "#caches/rev2/finish-result.ts";
import type { InlineRequests } from "#caches/rev2/inline-outputs.ts";
import { missingBlobs } from "#caches/rev2/missing-blobs.ts";
import { projectOf } from "#caches/rev2/project-of.ts";
import { askingFrom } from "#caches/rev2/request-metadata.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { Platform } from "#core/platform.ts";
import { type PlatformAlias, withAliases } from "#core/platform-aliases.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import { ExecutionId } from "#execution/execution.ts";
import { requestedSizeClasses } from "#execution/sizing/requested-size-classes.ts";
import { similarityKeysOf } from "#execution/submitting/similarity-keys.ts";
import type { ResolveImage } from "#graphs/resolved-image.ts";
import type { CallContext } from "#grpc/call-context.ts";
import { type Method, methodsOf } from "#grpc/method.ts";
import type { Asking } from "#invocations/asking.ts";
import type { AskingNotes } from "#invocations/asking-notes.ts";
import type { StoredOperation } from "#invocations/operation.store.ts";
import { OperationId, operationName } from "#invocations/operation.ts";
import type { OpenOperation, OperationService } from "#invocations/operation-service.ts";
import {
  type ActionResult,
  type ExecuteRequest,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { activeSpan } from "#tracing/active-span.ts";
import { placeBelow } from "#tracing/tracing.ts";
import { cancelledResponse, completed, type OperationInit } from "./execution-service-operation.ts";
import { operationMessage } from "./operation-message.ts";
import { pinnedAction } from "./pinned-action.ts";
import { type KnownAction, readAction, timeoutIn } from "./read-action.ts";
import {
  requireMayKnowOperation,
  requireVisibleOperation,
  unknownOperation,
} from "./visible-operation.ts";
import { rightsEveryMs, whileAllowed } from "./while-allowed.ts";
import { withHeartbeats } from "./with-heartbeats.ts";

interface ExecutionServiceParts {
  readonly operations: OperationService;
  readonly notes: AskingNotes;
  readonly blobsOf: (project: string) => BlobStore;
  readonly callers: GrpcCallers;
  /** Looks an action up in the action cache; undefined when it has no usable result. */
  readonly lookUpResult: (
    where: { readonly project: string; readonly domain: TrustDomain },
    action: Digest,
  ) => Promise<ActionResult | undefined>;
  /** Properties that mean others; none when absent. */
  readonly platformAliases?: readonly PlatformAlias[];
  /** Replaces the tag of an action's image by its digest. Absent: workers do it. */
  readonly resolveImage?: ResolveImage | undefined;
  /** For actions without a timeout of their own. */
  readonly defaultTimeoutMs: number;
  /** After this silence, in ms, a stream sends its last message again. */
  readonly heartbeatMs?: number;
}

/** Proxies commonly wait slightly longer. */
const defaultHeartbeatMs = 60_000;

const nothingInlined: InlineRequests = {
  inlineStdout: false,
  inlineStderr: false,
  inlineOutputFiles: [],
};

/** REv2's Execution service: each call gets its own operation, and several operations may share an execution. */
export function executionService(parts: ExecutionServiceParts): Method[] {
  return methodsOf(Execution, {
    execute: (request, context) => execute(request, context, parts),
    async *waitExecution({ name }, context) {
      const { callers, operations } = parts;
      const { id } = await requireVisibleOperation(operations, name, await callers.of(context));
      const operation = await operations.attend(id);
      if (operation === undefined) throw unknownOperation(name);
      const check = async () =>
        requireMayKnowOperation(await callers.presentOf(context), operation.project, name);
      yield* follow(operation, operation, nothingInlined, { signal: context.signal, check }, parts);
    },
  });
}

async function* execute(
  request: ExecuteRequest,
  context: CallContext,
  parts: ExecutionServiceParts,
): AsyncGenerator<OperationInit, void> {
  const project = projectOf(request.instanceName);
  const caller = await parts.callers.of(context);
  const where = { repository: project, branch: "" };
  requireGrant(caller, "execute", where);
  const actionDigest = fromDigestMessage(
    request.actionDigest,
    "the request",
    request.digestFunction,
  );
  const asking = askingFrom(context.metadata, { project, principal: caller.name });
  const domain = domainOfClient(caller, project);
  const blobs = parts.blobsOf(project);
  const id = OperationId.parse(randomUUID());
  const name = operationName(id);
  parts.notes.heard(asking, context.peer);
  if (parts.notes.isCancelled(asking)) {
    yield completed(name, actionDigest, cancelledResponse(refusal(asking)));
    return;
  }

  if (!request.skipCacheLookup) {
    const result = await parts.lookUpResult({ project, domain }, actionDigest);
    parts.notes.lookedUp(asking, actionDigest, result !== undefined);
    if (result !== undefined) {
      await finishResult(blobs, actionDigest, result, request);
      yield completed(name, actionDigest, { result, cachedResult: true, status: {} });
      return;
    }
  }

  const read = await readAction(actionDigest, blobs);
  if (read.kind === "missing") {
    yield completed(name, actionDigest, { status: missingBlobs(read.missing) });
    return;
  }
  const limits = jobLimits(caller, "execute", where);
  const refused = limits === undefined ? undefined : requestedTooMuch(read.platform, limits);
  if (refused !== undefined) {
    throw new Fault(
      "permission_denied",
      `the action asks for ${refused}, and ${caller.name}'s grants to execute in ${project} do not reach so far`,
    );
  }
  // From here on, the pinned action is the one that the client wants.
  const { resolveImage } = parts;
  const asker = { project, domain };
  const pinned = resolveImage && (await pinnedAction(read, actionDigest, resolveImage, asker));
  const wanted = pinned?.digest ?? actionDigest;
  if (pinned !== undefined) {
    const result = request.skipCacheLookup
      ? undefined
      : await parts.lookUpResult({ project, domain }, wanted);
    if (result !== undefined) {
      await finishResult(blobs, wanted, result, request);
      yield completed(name, wanted, { result, cachedResult: true, status: {} });
      return;
    }
    await blobs.put(wanted, pinned.bytes);
  }
  const requires = withAliases(pinned?.platform ?? read.platform, parts.platformAliases ?? []);
  const about = { id, actionDigest: wanted, domain, requires };
  const operation = await open(about, read, request, asking, context, parts);
  if (operation === undefined) {
    yield completed(name, wanted, cancelledResponse(refusal(asking)));
    return;
  }
  const check = async () => requireGrant(await parts.callers.presentOf(context), "execute", where);
  const { signal } = context;
  yield* follow(operation, { project, actionDigest: wanted }, request, { signal, check }, parts);
}

/** Undefined when the invocation was cancelled. */
async function open(
  {
    id,
    actionDigest,
    domain,
    requires,
  }: {
    readonly id: OperationId;
    readonly actionDigest: Digest;
    readonly domain: TrustDomain;
    readonly requires: Platform;
  },
  { action, commandDigest, platform }: KnownAction,
  request: ExecuteRequest,
  asking: Asking,
  { peer }: CallContext,
  { operations, defaultTimeoutMs }: ExecutionServiceParts,
): Promise<OpenOperation | undefined> {
  const { project, principal, targetId: target, actionMnemonic: mnemonic } = asking;
  const { least, most } = requestedSizeClasses(requires);
  const active = activeSpan();
  const opened = await operations.open({
    id,
    asking,
    request: {
      id: ExecutionId.parse(randomUUID()),
      project,
      domain,
      actionDigest,
      platform: requires,
      sizeClass: least,
      mostSizeClass: most,
      title: [mnemonic, target].filter((word) => word !== "").join(" "),
      priority: priorityIn(request),
      // A client without an invocation id gets turns of its own, by its connection.
      invocation: asking.invocation || `${principal} at ${peer}`,
      owner: principal,
      similarityKeys: similarityKeysOf({
        commandDigest,
        // With the tag: another digest of it is a similar action.
        platform,
        target,
        mnemonic,
        configuration: asking.configurationId,
      }),
      timeoutMs: timeoutIn(action) ?? defaultTimeoutMs,
      doNotCache: action.doNotCache,
      span: active && placeBelow(active.place),
    },
  });
  return opened === "refused" ? undefined : opened;
}

/**
 * Streams an operation while `check` passes. The first message is sent at once, so that a client whose stream breaks
 * knows the operation's name.
 */
async function* follow(
  operation: OpenOperation,
  { project, actionDigest }: Pick<StoredOperation, "project" | "actionDigest">,
  wanted: InlineRequests,
  { signal, check }: { readonly signal: AbortSignal; readonly check: () => Promise<void> },
  { operations, blobsOf, heartbeatMs = defaultHeartbeatMs }: ExecutionServiceParts,
): AsyncGenerator<OperationInit, void> {
  const blobs = blobsOf(project);
  const ours = new AbortController();
  const news = operations.follow(operation, AbortSignal.any([signal, ours.signal]));
  const messages = async function* () {
    for await (const each of news)
      yield await operationMessage(operation.id, actionDigest, each, wanted, blobs);
  };
  const stop = () => ours.abort("over");
  const allowed = whileAllowed(messages(), rightsEveryMs, check, stop);
  yield* withHeartbeats(allowed, heartbeatMs, stop);
}

function refusal({ invocation }: Asking): string {
  return `the invocation ${invocation} was cancelled; nothing more is executed for it`;
}

/** A client of the protocol can have at most the priority of a graph; it cannot use the top class. */
function priorityIn({ executionPolicy }: ExecuteRequest): number {
  // Graphs count a higher priority as sooner, REv2 a lower one.
  return Math.min(-lowestPriority, Math.max(-highestPriority, executionPolicy?.priority ?? 0));
}
