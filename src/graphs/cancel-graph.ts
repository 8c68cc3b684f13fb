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

/** The queue, as far as cancelling goes. */
export interface CancellingQueue {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  stillWanted(tx: Tx, ids: readonly ExecutionId[]): Promise<readonly ExecutionId[]>;
  cancel(tx: Tx, ids: readonly ExecutionId[]): Promise<AfterCommit>;
}

/**
 * Ends a graph, or some of its jobs: what waits is cancelled at once, what runs is asked to end.
 *
 * An execution that other runs or clients wait for goes on for them. A graph that is over stays as it ended.
 * False when there is no such graph.
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
 * Ends all runs whose end was asked for: with their executions, or without those that others wait for.
 *
 * Also to be called now and then: a server may die between storing a wish and passing it on.
 * Executions are locked before graphs, so this cannot be part of the transaction above.
 */
export async function passCancellationsOn(db: Db, queue: CancellingQueue): Promise<void> {
  const asked = await executionsRequestedToEnd(db);
  if (asked.length === 0) return;
  const after = await queue.transaction(async (tx) => {
    // Who joins an execution holds its row until the new run is stored. From here on, all waiters are known.
    await lockForCancelling(tx, asked);
    const graphs = await lockGraphs(tx, await graphsOfExecutions(tx, asked));
    const shared = await finishSharedRuns(tx, await queue.stillWanted(tx, asked));
    for (const graph of graphs) {
      const here = shared.filter(({ graphId }) => graphId === graph.id);
      await advanceStoredGraph(
        tx,
        graph,
        here.map(({ job }) => job),
      );
    }
    return queue.cancel(tx, asked);
  });
  after();
}
