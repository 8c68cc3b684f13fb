import type { Tx } from "#db/db.ts";
import { cancelQueued, lockForCancelling, requestCancellation } from "./cancel-executions.store.ts";
import type { ExecutionId } from "./execution.ts";
import { notifyExecutions } from "./notify.store.ts";
import { publishFinished } from "./publish-finished.ts";
import type { AfterCommit, QueueHooks } from "./queue-hooks.ts";

/**
 * Cancels executions: those that wait end at once, the others are asked to end.
 *
 * An execution that is to be cancelled can no longer be joined. One that is over stays as it is.
 */
export async function cancelExecutions(
  tx: Tx,
  ids: readonly ExecutionId[],
  now: Date,
  hooks: QueueHooks,
): Promise<AfterCommit> {
  await lockForCancelling(tx, ids);
  const finished = await cancelQueued(tx, ids, now);
  const asked = await requestCancellation(tx, ids, now);
  await notifyExecutions(tx, [...finished.map(({ id }) => id), ...asked]);
  const after = await publishFinished(tx, finished, hooks);
  return () => after?.();
}
