import type { Tx } from "#db/db.ts";
import type { ExecutionId } from "../execution.ts";
import { notifyCancellations, notifyExecutions } from "../notify.store.ts";
import type { AfterCommit, QueueHooks } from "../queue-hooks.ts";
import {
  cancelQueued,
  lockForCancelling,
  requestCancellation,
  secondRunsOf,
} from "./cancel-executions.store.ts";
import { publishFinished } from "./publish-finished.ts";

/**
 * Cancels executions that nothing waits for: those in the queue end at once, for the others their workers are notified.
 *
 * The caller removes its own interest before, in the same transaction; an execution that something else waits for
 * continues. An execution that is being cancelled cannot be joined. A finished one does not change. Second runs end
 * with the original.
 */
export async function cancelExecutions(
  tx: Tx,
  unwanted: readonly ExecutionId[],
  now: Date,
  hooks: QueueHooks,
): Promise<AfterCommit> {
  if (unwanted.length === 0) return () => {};
  await lockForCancelling(tx, unwanted);
  // A joining request locks the row until it is recorded: under this lock, all of them are visible.
  const wanted = new Set(await hooks.stillWanted?.(tx, unwanted));
  const first = unwanted.filter((id) => !wanted.has(id));
  // Otherwise a waiting second run would still begin.
  const ids = [...new Set([...first, ...(await secondRunsOf(tx, first))])];
  const finished = await cancelQueued(tx, ids, now);
  const requested = await requestCancellation(tx, ids, now);
  await notifyExecutions(
    tx,
    [...finished, ...requested].map(({ id }) => id),
  );
  await notifyCancellations(tx, [...new Set(requested.map(({ instanceId }) => instanceId))]);
  const after = await publishFinished(tx, finished, hooks);
  return () => after?.();
}
