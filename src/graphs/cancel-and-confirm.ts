import type { Principal } from "#access/principal.ts";
import type { UnconfirmedRun } from "#api/cancel.ts";
import type { Db } from "#db/db.ts";
import type { ExecutionQueue } from "#execution/execution-queue.ts";
import { confirmationWaitMs } from "#execution/finishing/until-cancelled.ts";
import { executionsOfCancelledRuns } from "./cancel.store.ts";
import { type CancellingQueue, cancelGraph } from "./cancel-graph.ts";
import { cancelChunkedRuns } from "./chunks/cancel-chunks.ts";
import type { GraphId } from "./graph-id.ts";
import { cancelOrphans } from "./kinds/settle-child-graphs.ts";

/**
 * Cancels a graph, or some of its jobs, and waits until no process of them can start any more.
 *
 * Returns the executions that are still uncertain after `withinMs`, each with the worker that did not confirm: it
 * cannot be reached, or it is older than confirmations. Such a process may start until its worker gets the
 * cancellation. Returns undefined when there is no such graph.
 */
export async function cancelAndConfirm(
  db: Db,
  queue: CancellingQueue & Pick<ExecutionQueue, "untilCancelled">,
  by: Principal,
  graphId: GraphId,
  jobs?: readonly string[],
  withinMs = confirmationWaitMs,
): Promise<UnconfirmedRun[] | undefined> {
  if (!(await cancelGraph(db, queue, by, graphId, jobs))) return undefined;
  // Batches of chunked jobs, and graphs that jobs have made, also end by themselves, a little later.
  while ((await cancelChunkedRuns(db, queue)) + (await cancelOrphans(db, queue)) > 0);
  const runs = await executionsOfCancelledRuns(db, graphId);
  const open = await queue.untilCancelled(
    runs.map(({ executionId }) => executionId),
    withinMs,
  );
  return open.flatMap(({ of, worker }) =>
    runs.filter(({ executionId }) => executionId === of).map(({ job }) => ({ job, worker })),
  );
}
