import type { Db } from "#db/db.ts";
import { lockForCancelling } from "#execution/finishing/cancel-executions.store.ts";
import { lockGraphs } from "../advancing/advance.store.ts";
import type { CancellingQueue } from "../cancel-graph.ts";
import { finishServerJobs } from "../kinds/server-job.store.ts";
import { succeeded } from "../kinds/server-job-end.ts";
import { passOnEndedRuns } from "../queue-events.ts";
import {
  cancelBatches,
  chunkedRunsToCancel,
  executionsServingNobody,
  markRunOver,
} from "./gather.store.ts";

/**
 * Ends chunked runs whose cancellation was requested, and their executions unless others need them. Returns how many.
 */
export async function cancelChunkedRuns(db: Db, queue: CancellingQueue): Promise<number> {
  const runs = await chunkedRunsToCancel(db);
  for (const { graphId, job, run, executions } of runs) {
    const after = await queue.transaction(async (tx) => {
      // Executions are locked before graphs, as everywhere. From here on, all runs that joined them are visible.
      await lockForCancelling(tx, executions);
      const graphs = await lockGraphs(tx, [graphId]);
      const key = { graphId, job, run };
      await cancelBatches(tx, key);
      await markRunOver(tx, key);
      const ended = await finishServerJobs(tx, [{ ...succeeded, outcome: "cancelled", ...key }]);
      await passOnEndedRuns(tx, graphs, ended, { retry: false });
      return queue.cancel(tx, await executionsServingNobody(tx, executions));
    });
    after();
  }
  return runs.length;
}
