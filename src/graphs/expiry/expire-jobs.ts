import type { Db, Tx } from "#db/db.ts";
import { lockForCancelling } from "#execution/cancel-executions.store.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { readExecutions } from "#execution/read-executions.store.ts";
import { advanceStoredGraphs, lockGraphs } from "../advancing/advance.store.ts";
import type { CancellingQueue } from "../cancel-graph.ts";
import {
  executionsOfNobody,
  jobsToExpire,
  setExpiredAside,
  type WaitingJob,
} from "./expiry.store.ts";

const jobsPerTurn = 500;

/**
 * Ends the waiting of jobs that waited longer for their start than they may. Answers how many.
 *
 * A job that is blocked, ready or queued waits for its start; one that is skipped waits for nothing, and has its
 * whole time again when it is revived. An execution that other runs share goes on for them.
 */
export async function expireJobs(db: Db, queue: CancellingQueue, now: Date): Promise<number> {
  const waiting = await jobsToExpire(db, now, jobsPerTurn);
  const executions = [...new Set(waiting.flatMap(({ executionId }) => executionId ?? []))];
  if (waiting.length === 0) return 0;
  if (executions.length === 0) {
    return db.transaction((tx) => expire(tx, waiting, [], now));
  }
  const { expired, after } = await queue.transaction(async (tx) => {
    // Nobody joins or takes them from here on.
    await lockForCancelling(tx, executions);
    const unbegun = (await readExecutions(tx, executions))
      .filter(({ state }) => state.kind === "queued")
      .map(({ id }) => id);
    const expired = await expire(tx, waiting, unbegun, now);
    return { expired, after: await queue.cancel(tx, await executionsOfNobody(tx, unbegun)) };
  });
  after();
  return expired;
}

async function expire(
  tx: Tx,
  waiting: readonly WaitingJob[],
  unbegun: readonly ExecutionId[],
  now: Date,
): Promise<number> {
  const graphs = await lockGraphs(
    tx,
    waiting.map(({ graphId }) => graphId),
  );
  const expired = await setExpiredAside(tx, waiting, unbegun, now);
  await advanceStoredGraphs(
    tx,
    graphs.map((graph) => ({
      graph,
      jobs: expired.filter(({ graphId }) => graphId === graph.id).map(({ job }) => job),
    })),
  );
  return expired.length;
}
