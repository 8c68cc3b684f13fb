import type { Db } from "#db/db.ts";
import type { CancellingQueue } from "../cancel-graph.ts";
import { endWaiting } from "./end-waiting.ts";
import { jobsToExpire, setExpiredAside } from "./expiry.store.ts";

const jobsPerTurn = 500;

/**
 * Ends the waiting of jobs that waited longer for their start than allowed. Returns how many.
 *
 * A job that is blocked, ready or queued waits for its start. A skipped job does not wait, and gets its full time again
 * when it is revived.
 */
export async function expireJobs(db: Db, queue: CancellingQueue, now: Date): Promise<number> {
  const waiting = await jobsToExpire(db, now, jobsPerTurn);
  return endWaiting(db, queue, waiting, (tx, unbegun) =>
    setExpiredAside(tx, waiting, unbegun, now),
  );
}
