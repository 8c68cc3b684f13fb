import type { Tx } from "#db/db.ts";
import type { Asking } from "./asking.ts";
import { type CancellingQueue, cancelOperations } from "./cancel-operations.ts";
import { markInvocationCancelled } from "./invocation.store.ts";
import { openOperationsOf } from "./operation.store.ts";

/** The maximum number of operations in a transaction, so that transactions stay short. */
const perTransaction = 500;

/**
 * Cancels the waiting operations of an invocation, and refuses its further requests. Returns false when there is no
 * such invocation.
 *
 * A concurrent call is found by the sweep of `operationService`.
 */
export async function cancelInvocation(
  db: Tx,
  queue: CancellingQueue,
  which: Pick<Asking, "project" | "invocation">,
  by: { readonly principal: string; readonly now: Date },
): Promise<boolean> {
  if (!(await markInvocationCancelled(db, which, by.principal, by.now))) return false;
  const open = await openOperationsOf(db, which);
  for (let at = 0; at < open.length; at += perTransaction)
    await cancelOperations(queue, open.slice(at, at + perTransaction), { now: by.now });
  return true;
}
