import { recordAudit } from "#access/audit.store.ts";
import type { Principal } from "#access/principal.ts";
import type { Db, Tx } from "#db/db.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { lockForCancelling } from "#execution/finishing/cancel-executions.store.ts";
import type { AfterCommit } from "#execution/queue-hooks.ts";
import { advanceStoredGraph, lockGraphs } from "./advancing/advance.store.ts";
import {
  askToCancel,
  dropRequests,
  executionsRequestedToEnd,
  finishRunsWithoutExecution,
  finishSharedRuns,
  markCancelled,
} from "./cancel.store.ts";
import type { GraphId } from "./graph-id.ts";
import { requireGrantOnGraph } from "./require-grant-on-graph.ts";
import { graphsOfExecutions } from "./run.store.ts";

/** The functions of the queue that cancelling needs. */
export interface CancellingQueue {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  stillWanted(tx: Tx, ids: readonly ExecutionId[]): Promise<readonly ExecutionId[]>;
  cancel(tx: Tx, ids: readonly ExecutionId[]): Promise<AfterCommit>;
}

/**
 * Cancels a graph, or some of its jobs: waiting jobs end at once, the workers of running ones are notified.
 *
 * An execution that other runs or clients wait for continues for them. A finished graph does not change. Returns false
 * when there is no such graph.
 */
export async function cancelGraph(
  db: Db,
  queue: CancellingQueue,
  by: Principal,
  graphId: GraphId,
  jobs?: readonly string[],
): Promise<boolean> {
  const found = await db.transaction(async (tx) => {
    const [graph] = await lockGraphs(tx, [graphId]);
    if (graph === undefined) return false;
    await requireGrantOnGraph(tx, by, "cancel", graphId);
    if (graph.state !== "running") return true;
    if (jobs === undefined) await markCancelled(tx, graphId);
    await recordAudit(tx, {
      actor: by.name,
      verb: "cancel",
      graphId,
      detail: jobs ? { jobs } : {},
    });
    const waiting = await dropRequests(tx, graphId, jobs);
    const running = await askToCancel(tx, graphId, jobs);
    await finishRunsWithoutExecution(tx, graphId);
    const cancelRequested = graph.cancelRequested || jobs === undefined;
    await advanceStoredGraph(tx, { ...graph, cancelRequested }, [
      ...new Set([...waiting, ...running]),
    ]);
    return true;
  });
  if (found) await passCancellationsOn(db, queue);
  return found;
}

/**
 * Ends all runs whose cancellation was requested: with their executions, or without those that others wait for.
 *
 * Also to be called from time to time: a server may die between the two steps. Executions are locked before graphs, so
 * this cannot be part of the transaction above.
 */
export async function passCancellationsOn(db: Db, queue: CancellingQueue): Promise<void> {
  const requested = await executionsRequestedToEnd(db);
  if (requested.length === 0) return;
  const after = await queue.transaction(async (tx) => {
    // A run that joins an execution holds its row until it is stored. From here on, all waiters are known.
    await lockForCancelling(tx, requested);
    const graphs = await lockGraphs(tx, await graphsOfExecutions(tx, requested));
    const shared = await finishSharedRuns(tx, await queue.stillWanted(tx, requested));
    for (const graph of graphs) {
      const here = shared.filter(({ graphId }) => graphId === graph.id);
      await advanceStoredGraph(
        tx,
        graph,
        here.map(({ job }) => job),
      );
    }
    return queue.cancel(tx, requested);
  });
  after();
}
