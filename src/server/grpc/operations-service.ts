import { durationMs } from "@bufbuild/protobuf/wkt";
import type { Principal } from "#access/principal.ts";
import { mayDo, requireGrant } from "#access/require-grant.ts";
import type { GrpcCallers } from "#caches/rev2/caller.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { Fault } from "#core/fault.ts";
import type { CallContext } from "#grpc/call-context.ts";
import { type Method, methodsOf } from "#grpc/method.ts";
import type { StoredOperation } from "#invocations/operation.store.ts";
import type { OperationService } from "#invocations/operation-service.ts";
import { Operations } from "#proto/google/longrunning/operations_pb.ts";
import type { OperationInit } from "./execution-service-operation.ts";
import { operationMessage } from "./operation-message.ts";
import {
  requireMayKnowOperation,
  requireVisibleOperation,
  unknownOperation,
} from "./visible-operation.ts";
import { rightsEveryMs, whileAllowed } from "./while-allowed.ts";

interface OperationsServiceParts {
  readonly operations: OperationService;
  readonly blobsOf: (project: string) => BlobStore;
  readonly callers: GrpcCallers;
}

const noRequests = { inlineStdout: false, inlineStderr: false, inlineOutputFiles: [] };

/** Longer waits end early, as the protocol allows: the client asks again. */
const longestWaitMs = 60_000;

/** Methods that read, wait for and cancel operations, for clients without an open stream. */
export function operationsService(parts: OperationsServiceParts): Method[] {
  const { operations, callers } = parts;
  return methodsOf(Operations, {
    async getOperation({ name }, context) {
      return standing(name, 0, context, parts);
    },

    async waitOperation({ name, timeout }, context) {
      const requestedMs = timeout === undefined ? longestWaitMs : durationMs(timeout);
      return standing(name, Math.min(Math.max(requestedMs, 0), longestWaitMs), context, parts);
    },

    async cancelOperation({ name }, context) {
      const caller = await callers.of(context);
      const operation = await requireVisibleOperation(operations, name, caller);
      requireMayCancel(caller, operation);
      await operations.cancel(operation.id);
      return {};
    },

    /** Records that no client needs the result any more; the operation is removed by retention. */
    async deleteOperation() {
      return {};
    },

    async listOperations() {
      throw new Fault(
        "unimplemented",
        "this call is not supported: the pages and the HTTP API list operations by invocation",
      );
    },
  });
}

/** Returns the operation when it has ended, or when the wait is over; it throws when the right to it is taken away. */
async function standing(
  name: string,
  waitMs: number,
  context: CallContext,
  { operations, blobsOf, callers }: OperationsServiceParts,
): Promise<OperationInit> {
  const { signal } = context;
  const { id } = await requireVisibleOperation(operations, name, await callers.of(context));
  const operation = await operations.attend(id);
  if (operation === undefined) throw unknownOperation(name);
  const { actionDigest, project } = operation;
  const enough = new AbortController();
  const left = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let last: OperationInit | undefined;
  try {
    const check = async () =>
      requireMayKnowOperation(await callers.presentOf(context), project, name);
    const ends = AbortSignal.any([signal, enough.signal, left.signal]);
    const updates = operations.follow(operation, ends);
    const stop = () => left.abort();
    for await (const news of whileAllowed(updates, rightsEveryMs, check, stop)) {
      last = await operationMessage(operation.id, actionDigest, news, noRequests, blobsOf(project));
      if (waitMs === 0) break;
      // The state is sent in any case, even when reading it takes long.
      timer ??= setTimeout(() => enough.abort(), waitMs);
    }
  } catch (reason) {
    if (last === undefined || !enough.signal.aborted) throw reason;
  } finally {
    clearTimeout(timer);
  }
  return last ?? unknownEnd(name);
}

/** Throws unless the caller owns the operation or may cancel operations of others. */
function requireMayCancel(caller: Principal, { project, principal }: StoredOperation): void {
  const where = { repository: project, branch: "" };
  if (caller.name === principal && mayDo(caller, "execute", where)) return;
  requireGrant(caller, "cancel", where);
}

function unknownEnd(name: string): never {
  throw new Fault("internal", `the state of operation ${name} is not known`);
}
