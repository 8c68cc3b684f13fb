import type { Tx } from "#db/db.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { lockForCancelling } from "#execution/finishing/cancel-executions.store.ts";
import type { AfterCommit } from "#execution/queue-hooks.ts";
import { endOperations, executionsServing, notifyOperations } from "./operation.store.ts";
import type { OperationId } from "./operation.ts";

/** The part of the queue that cancelling uses. */
export interface CancellingQueue {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Cancels executions that nothing needs. */
  cancel(tx: Tx, ids: readonly ExecutionId[]): Promise<AfterCommit>;
}

/**
 * Ends operations at once, and those executions that nothing else waits for. Returns the ended operations.
 *
 * Ended operations stay as they are. An execution that another operation or a graph's run waits for continues for them.
 */
export async function cancelOperations(
  queue: CancellingQueue,
  ids: readonly OperationId[],
  when: {
    readonly now: Date;
    /** Skips operations that had listeners since this time. */
    readonly unwatchedSince?: Date;
  },
): Promise<OperationId[]> {
  if (ids.length === 0) return [];
  const { ended, after } = await queue.transaction(async (tx) => {
    // A transaction that joins an execution locks its row until the new operation is stored. From here on, all
    // operations are known.
    await lockForCancelling(tx, await executionsServing(tx, ids));
    const { now, unwatchedSince } = when;
    const some = await endOperations(tx, ids, { now, unwatchedSince });
    const ended = some.map(({ id }) => id);
    await notifyOperations(tx, ended);
    const executions = [...new Set(some.map(({ executionId }) => executionId))];
    return { ended, after: await queue.cancel(tx, executions) };
  });
  after();
  return ended;
}
