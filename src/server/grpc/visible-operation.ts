import { mayReadOperations } from "#access/may-read.ts";
import type { Principal } from "#access/principal.ts";
import { Fault } from "#core/fault.ts";
import type { StoredOperation } from "#invocations/operation.store.ts";
import { operationIdIn } from "#invocations/operation.ts";
import type { OperationService } from "#invocations/operation-service.ts";

/**
 * Returns the operation that a caller names. Throws `not_found` when there is none, and in the same words when the
 * caller may not know of it: names of operations are not secret.
 */
export async function requireVisibleOperation(
  operations: Pick<OperationService, "find">,
  name: string,
  caller: Principal,
): Promise<StoredOperation> {
  const id = operationIdIn(name);
  const operation = id && (await operations.find(id));
  if (operation !== undefined && mayReadOperations(caller, operation.project)) return operation;
  throw unknownOperation(name);
}

/** Throws what `requireVisibleOperation` throws, for calls that are open while the rights of the caller change. */
export function requireMayKnowOperation(caller: Principal, project: string, name: string): void {
  if (!mayReadOperations(caller, project)) throw unknownOperation(name);
}

export function unknownOperation(name: string): Fault {
  return new Fault("not_found", `there is no operation ${name}`);
}
