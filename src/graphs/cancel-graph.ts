import type { Db, Tx } from "#db/db.ts";
import type { ExecutionId } from "#execution/execution.ts";
import type { AfterCommit } from "#execution/queue-hooks.ts";
import { advanceStoredGraph, lockGraphs } from "./advance.store.ts";
import {
  askToCancel,
  dropWishes,
  executionsToCancel,
  finishSharedRuns,
  markCancelled,
} from "./cancel.store.ts";
import type { GraphId } from "./graph-id.ts";

/** The queue, as far as cancelling goes. */
export interface CancellingQueue {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  cancel(tx: Tx, ids: readonly ExecutionId[]): Promise<AfterCommit>;
}

/**
 * Ends a graph, or some of its jobs: what waits is cancelled at once, what runs is asked to end.
 *
 * An execution that other runs wait for goes on for them. False when there is no such graph.
 */
export async function cancelGraph(
  db: Db,
  queue: CancellingQueue,
  graphId: GraphId,
  jobs?: readonly string[],
): Promise<boolean> {
  const found = await db.transaction(async (tx) => {
    const [graph] = await lockGraphs(tx, [graphId]);
    if (graph === undefined) return false;
    if (jobs === undefined) await markCancelled(tx, graphId);
    const waiting = await dropWishes(tx, graphId, jobs);
    const running = await askToCancel(tx, graphId, jobs);
    const shared = await finishSharedRuns(tx, graphId);
    const cancelAsked = graph.cancelAsked || jobs === undefined;
    await advanceStoredGraph(tx, { ...graph, cancelAsked }, [
      ...new Set([...waiting, ...running, ...shared]),
    ]);
    return true;
  });
  if (found) await passCancellationsOn(db, queue);
  return found;
}

/**
 * Tells the queue of all runs whose end was asked for.
 *
 * Also to be called now and then: a server may die between storing a wish and passing it on.
 * Executions are locked before graphs, so this cannot be part of the transaction above.
 */
export async function passCancellationsOn(db: Db, queue: CancellingQueue): Promise<void> {
  const ids = await executionsToCancel(db);
  if (ids.length === 0) return;
  const after = await queue.transaction((tx) => queue.cancel(tx, ids));
  after();
}
