import type { BlobStore } from "#cas/blob-store.ts";
import type { Db } from "#db/db.ts";
import { preferIndexes } from "#execution/prefer-indexes.store.ts";
import { lockGraphs } from "../advancing/advance.store.ts";
import { insertRuns, type NewRun } from "../insert-runs.store.ts";
import { passOnEndedRuns } from "../queue-events.ts";
import { beginErrand } from "./begin-errand.ts";
import { dummyOutputs } from "./dummy-end.ts";
import { lockGraphsToServe, type ReadyErrand, readyErrands, wakeErrands } from "./errand.store.ts";
import { keepNotifications } from "./notification.store.ts";
import type { Webhooks } from "./webhooks.ts";

export interface ErrandRooms {
  readonly db: Db;
  readonly store: BlobStore;
  readonly webhooks: Webhooks;
}

/** Jobs and graphs a transaction at most: enough to share a commit, few enough to be done in a moment. */
const mostJobs = 1_000;
const mostGraphs = 256;

/** Begins the ready jobs that the farm serves, of many graphs at once. Answers how many. */
export function beginErrands({ db, store, webhooks }: ErrandRooms, now: Date): Promise<number> {
  return db.transaction(async (tx) => {
    await preferIndexes(tx);
    const ids = await lockGraphsToServe(tx, mostGraphs);
    if (ids.length === 0) return 0;
    const [graphs, ready] = await Promise.all([
      lockGraphs(tx, ids),
      readyErrands(tx, ids, mostJobs),
    ]);
    await keepDummyOutputs(store, ready);
    const runs = ready.map((errand) => runOf(errand, now));
    await insertRuns(tx, runs);
    await keepNotifications(tx, ready, webhooks, now);
    // A dummy that takes no time is over already, and may be tried again.
    await passOnEndedRuns(
      tx,
      graphs,
      runs.map((run) => ({
        graphId: run.graphId,
        job: run.job,
        outcome: run.kind === "settled" ? run.outcome : null,
        failureClass: run.kind === "settled" ? (run.failureClass ?? null) : null,
        cancelAsked: false,
      })),
    );
    if (runs.some((run) => run.kind === "errand" && run.dueAt !== null)) await wakeErrands(tx);
    return ready.length;
  });
}

function runOf(errand: ReadyErrand, now: Date): NewRun {
  const { graphId, job, cause, inputRuns, kind, definition } = errand;
  const about = { graphId, job, cause, inputRuns };
  const begin = beginErrand({ kind, name: job, definition }, errand.runs + 1, now);
  switch (begin.kind) {
    case "waits":
      return { ...about, kind: "errand", state: "waiting", dueAt: begin.dueAt };
    case "runs":
      return { ...about, kind: "errand", state: "running", dueAt: begin.dueAt };
    case "over":
      return { ...about, ...begin, kind: "settled" };
  }
}

/** Puts what dummies make into the store, before their runs are over. */
async function keepDummyOutputs(store: BlobStore, errands: readonly ReadyErrand[]): Promise<void> {
  const blobs = errands.flatMap(({ kind, job, definition, runs }) =>
    kind === "dummy" ? dummyOutputs(job, definition, runs + 1) : [],
  );
  await Promise.all(blobs.map(({ digest, bytes }) => store.put(digest, bytes)));
}
