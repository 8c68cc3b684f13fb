import { anyone, type Principal } from "#access/principal.ts";
import { mayDo } from "#access/require-grant.ts";
import { requireMayKeep } from "#access/trust-domains/domain-of-client.ts";
import type { ClientResultEnd } from "#actions/client-results.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { type Digest, digestKey, functionOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { CallContext } from "#grpc/call-context.ts";
import { DetailedFault } from "#grpc/detailed-fault.ts";
import { type Method, methodsOf } from "#grpc/method.ts";
import type { Asking } from "#invocations/asking.ts";
import type { AskingNotes } from "#invocations/asking-notes.ts";
import {
  ActionCache,
  type ActionResult,
  type UpdateActionResultRequest,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { BlobsFor } from "./blobs-for.ts";
import type { GrpcCallers } from "./caller.ts";
import { finishResult } from "./finish-result.ts";
import { missingBlobs, mostNamed } from "./missing-blobs.ts";
import { projectOf } from "./project-of.ts";
import { askingFrom } from "./request-metadata.ts";

/** A caller and the action that it requests. */
export interface AboutAction {
  readonly actionDigest: Digest;
  readonly asking: Asking;
  readonly caller: Principal;
  readonly context: CallContext;
}

interface ActionCacheParts {
  readonly blobsFor: BlobsFor;
  readonly notes: Pick<AskingNotes, "heard" | "lookedUp">;
  readonly callers: GrpcCallers;
  /** Throws `permission_denied` for callers that may not read results of a project. All may when absent. */
  readonly requireMayRead?: (caller: Principal, project: string) => void;
  /** Finds a result whose blobs are all available; undefined otherwise. */
  readonly lookUpResult: (about: AboutAction) => Promise<ActionResult | undefined>;
  readonly keepResult: (about: AboutAction, result: ActionResult) => Promise<ClientResultEnd>;
}

/** REv2's action cache: results from workers, and from clients with the right to write. */
export function actionCacheService(parts: ActionCacheParts): Method[] {
  const { blobsFor, notes, callers } = parts;
  return methodsOf(ActionCache, {
    async getActionResult(request, context) {
      const project = projectOf(request.instanceName);
      const digest = fromDigestMessage(request.actionDigest, "the action", request.digestFunction);
      const caller = await callers.of(context);
      parts.requireMayRead?.(caller, project);
      const asking = askingFrom(context.metadata, { project, principal: caller.name });
      const isNoted = mayLeaveNotes(caller, project);
      if (isNoted) notes.heard(asking, context.peer);
      const result = await parts.lookUpResult({ asking, caller, actionDigest: digest, context });
      if (isNoted) notes.lookedUp(asking, digest, result !== undefined);
      if (result === undefined) {
        throw new Fault("not_found", `no result of ${digestKey(digest)} is cached`);
      }
      await finishResult(blobsFor(project, context), digest, result, request);
      return result;
    },

    updateActionResult: (request, context) => update(request, context, parts),
  });
}

async function update(
  request: UpdateActionResultRequest,
  context: CallContext,
  { blobsFor, notes, callers, keepResult }: ActionCacheParts,
): Promise<ActionResult> {
  const project = projectOf(request.instanceName);
  const caller = await callers.of(context);
  requireMayKeep(caller, project);
  const actionDigest = fromDigestMessage(
    request.actionDigest,
    "the action",
    request.digestFunction,
  );
  const result = request.actionResult;
  if (result === undefined) throw new Fault("invalid_argument", "the request has no result");
  const asking = askingFrom(context.metadata, { project, principal: caller.name });
  notes.heard(asking, context.peer);

  await storeInlined(blobsFor(project, context), result, actionDigest);
  const end = await keepResult({ asking, caller, actionDigest, context }, result);
  if (end.kind === "incomplete") {
    const named = end.missing.slice(0, mostNamed);
    const { message, details } = missingBlobs(named);
    throw new DetailedFault(
      "failed_precondition",
      `the result of ${digestKey(actionDigest)} names blobs that are not here: ${message}; upload them first`,
      details,
    );
  }
  return result;
}

/** Callers without rights may read, but must not cause writes or fill the list of invocations. */
function mayLeaveNotes(caller: Principal, project: string): boolean {
  const where = { repository: project, branch: "" };
  return caller.name !== anyone || mayDo(caller, "execute", where) || mayDo(caller, "cache", where);
}

/** Stores inlined filesin the store, where later readers of the result look for them. */
async function storeInlined(
  blobs: BlobStore,
  result: ActionResult,
  actionDigest: Digest,
): Promise<void> {
  for (const file of result.outputFiles) {
    if (file.contents.length === 0) continue;
    const digest = fromDigestMessage(file.digest, "an output file", functionOf(actionDigest));
    await blobs.put(digest, file.contents);
    file.contents = new Uint8Array();
  }
}
