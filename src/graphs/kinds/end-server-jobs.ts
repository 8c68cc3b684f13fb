import type { Db } from "#db/db.ts";
import { preferIndexes } from "#execution/claiming/prefer-indexes.store.ts";
import { lockGraphs } from "../advancing/advance.store.ts";
import { passOnEndedRuns } from "../queue-events.ts";
import { dueServerJobs, finishServerJobs, lockGraphsDue } from "./server-job.store.ts";
import { endWhenDue } from "./server-job-end.ts";

/** The limit for runs and graphs per transaction. */
const mostRuns = 1_000;
const mostGraphs = 256;

/** Ends the breakpoints, timers and dummies that are due at `now`, of many graphs at once. Returns how many. */
export function endServerJobs(db: Db, now: Date): Promise<number> {
  return db.transaction(async (tx) => {
    await preferIndexes(tx);
    const ids = await lockGraphsDue(tx, now, mostGraphs);
    if (ids.length === 0) return 0;
    const [graphs, due] = await Promise.all([
      lockGraphs(tx, ids),
      dueServerJobs(tx, ids, now, mostRuns),
    ]);
    const ended = await finishServerJobs(
      tx,
      due.map((serverJob) => {
        const { graphId, job, run } = serverJob;
        return { graphId, job, run, ...endWhenDue({ ...serverJob, name: job }, run) };
      }),
    );
    await passOnEndedRuns(tx, graphs, ended);
    return ended.length;
  });
}
