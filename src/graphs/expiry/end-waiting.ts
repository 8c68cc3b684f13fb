import type { Db, Tx } from "#db/db.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { lockForCancelling } from "#execution/finishing/cancel-executions.store.ts";
import { readExecutions } from "#execution/read-executions.store.ts";
import { advanceStoredGraphs, lockGraphs } from "../advancing/advance.store.ts";
import type { CancellingQueue } from "../cancel-graph.ts";
import type { GraphId } from "../graph-id.ts";
import { graphEventsOf } from "../queue-events.ts";
import type { JobKey } from "../run.store.ts";
import { executionsOfNobody, type WaitingJob } from "./waiting-job.store.ts";

/**
 * Ends the waiting of jobs that have not started. Returns how many.
 *
 * `setAside` returns, with all rows locked, the jobs that it set aside; queued jobs only when no worker has started
 * their execution. An execution that other runs share continues for them. `others`: further graphs that it reads.
 */
export async function endWaiting(
  db: Db,
  queue: CancellingQueue,
  waiting: readonly WaitingJob[],
  setAside: (tx: Tx, unbegun: readonly ExecutionId[]) => Promise<readonly JobKey[]>,
  others: readonly GraphId[] = [],
): Promise<number> {
  if (waiting.length === 0) return 0;
  const graphs = [...waiting.map(({ graphId }) => graphId), ...others];
  const executions = [...new Set(waiting.flatMap(({ executionId }) => executionId ?? []))];
  if (executions.length === 0) {
    return db.transaction((tx) => setAsideAndAdvance(tx, graphs, () => setAside(tx, [])));
  }
  const { ended, after } = await queue.transaction(async (tx) => {
    // From here on, no run can join them and no worker can get them.
    await lockForCancelling(tx, executions);
    const unbegun = (await readExecutions(tx, executions))
      .filter(({ state }) => state.kind === "queued")
      .map(({ id }) => id);
    const ended = await setAsideAndAdvance(tx, graphs, () => setAside(tx, unbegun));
    return { ended, after: await queue.cancel(tx, await executionsOfNobody(tx, unbegun)) };
  });
  after();
  return ended;
}

async function setAsideAndAdvance(
  tx: Tx,
  ids: readonly GraphId[],
  setAside: () => Promise<readonly JobKey[]>,
): Promise<number> {
  const graphs = await lockGraphs(tx, ids);
  const ended = await setAside();
  await advanceStoredGraphs(tx, graphEventsOf(graphs, ended));
  return ended.length;
}
