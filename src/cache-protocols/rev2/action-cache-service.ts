import { anyone, type Principal } from "#access/principal.ts";
import { mayDo, requireGrant } from "#access/require-grant.ts";
import { keepClientResult } from "#actions/client-results.ts";
import type { OutputTrees } from "#actions/output-trees.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { type Digest, digestKey, functionOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import type { CallContext } from "#grpc/call-context.ts";
import { DetailedFault } from "#grpc/detailed-fault.ts";
import { type Method, methodsOf } from "#grpc/method.ts";
import type { AskingNotes } from "#invocations/asking-notes.ts";
import {
  ActionCache,
  type ActionResult,
  type UpdateActionResultRequest,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { GrpcCallers } from "./caller.ts";
import type { Scope } from "./execution-service.ts";
import { missingBlobs } from "./execution-service-operation.ts";
import { finishResult } from "./finish-result.ts";
import { mostNamed } from "./missing-inputs.ts";
import { projectOf } from "./project-of.ts";
import { askingFrom } from "./request-metadata.ts";

export interface ActionCacheParts {
  readonly db: Db;
  readonly trees: OutputTrees;
  readonly notes: AskingNotes;
  readonly callers: GrpcCallers;
  readonly domain: TrustDomain;
  /** Finds a result whose blobs are all here; undefined otherwise. */
  readonly lookUpResult: (scope: Scope, action: Digest) => Promise<ActionResult | undefined>;
}

/** REv2's action cache: what workers made, and what clients that may wrote. */
export function actionCacheService(parts: ActionCacheParts): Method[] {
  const { trees, notes, callers, domain } = parts;
  return methodsOf(ActionCache, {
    async getActionResult(request, context) {
      const project = projectOf(request.instanceName);
      const digest = fromDigestMessage(request.actionDigest, "the action", request.digestFunction);
      const caller = await callers.of(context);
      const asking = askingFrom(context.metadata, { project, principal: caller.name });
      const isNoted = mayLeaveNotes(caller, project);
      if (isNoted) notes.heard(asking);
      const result = await parts.lookUpResult({ project, domain }, digest);
      if (isNoted) notes.lookedUp(asking, digest, result !== undefined);
      if (result === undefined) {
        throw new Fault("not_found", `no result of ${digestKey(digest)} is cached`);
      }
      await finishResult(trees.store, digest, result, request);
      return result;
    },

    updateActionResult: (request, context) => update(request, context, parts),
  });
}

async function update(
  request: UpdateActionResultRequest,
  context: CallContext,
  { db, trees, notes, callers, domain }: ActionCacheParts,
): Promise<ActionResult> {
  const project = projectOf(request.instanceName);
  const caller = await callers.of(context);
  requireGrant(caller, "cache", { repository: project, branch: "" });
  const actionDigest = fromDigestMessage(
    request.actionDigest,
    "the action",
    request.digestFunction,
  );
  const result = request.actionResult;
  if (result === undefined) throw new Fault("invalid_argument", "the request has no result");
  notes.heard(askingFrom(context.metadata, { project, principal: caller.name }));

  await storeInlined(trees, result, actionDigest);
  const end = await keepClientResult(db, trees, {
    project,
    domain,
    actionDigest,
    result,
    principal: caller.name,
  });
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

/** Whoever passes by may read; but not make the farm write, and fill its list of invocations. */
function mayLeaveNotes(caller: Principal, project: string): boolean {
  const where = { repository: project, branch: "" };
  return caller.name !== anyone || mayDo(caller, "execute", where) || mayDo(caller, "cache", where);
}

/** Puts inlined files into the store, where all who get the result later look for them. */
async function storeInlined(
  { store }: OutputTrees,
  result: ActionResult,
  actionDigest: Digest,
): Promise<void> {
  for (const file of result.outputFiles) {
    if (file.contents.length === 0) continue;
    const digest = fromDigestMessage(file.digest, "an output file", functionOf(actionDigest));
    await store.put(digest, file.contents);
    file.contents = new Uint8Array();
  }
}
