import type { Db } from "#db/db.ts";
import { preferIndexes } from "#execution/claiming/prefer-indexes.store.ts";
import { lockGraphs } from "../advancing/advance.store.ts";
import { insertRuns, type NewRun } from "../insert-runs.store.ts";
import type { ProjectOfJobs } from "../project-of-jobs.ts";
import { passOnEndedRuns } from "../queue-events.ts";
import { beginServerJob } from "./begin-server-job.ts";
import { dummyOutputs } from "./dummy-end.ts";
import { keepNotifications } from "./notification.store.ts";
import {
  lockGraphsToServe,
  type ReadyServerJob,
  readyServerJobs,
  wakeServerJobs,
} from "./server-job.store.ts";
import type { Webhooks } from "./webhooks.ts";

export interface ServerJobServices {
  readonly db: Db;
  readonly inProject: (project: string) => Pick<ProjectOfJobs, "store">;
  readonly webhooks: Webhooks;
}

/** The limit for jobs and graphs per transaction: enough to share a commit, few enough to be fast. */
const mostJobs = 1_000;
const mostGraphs = 256;

/** Begins the ready jobs that the farm serves, of many graphs at once. Returns how many. */
export function beginServerJobs(
  { db, inProject, webhooks }: ServerJobServices,
  now: Date,
): Promise<number> {
  return db.transaction(async (tx) => {
    await preferIndexes(tx);
    const ids = await lockGraphsToServe(tx, mostGraphs);
    if (ids.length === 0) return 0;
    const [graphs, ready] = await Promise.all([
      lockGraphs(tx, ids),
      readyServerJobs(tx, ids, mostJobs),
    ]);
    await keepDummyOutputs(inProject, ready);
    const runs = ready.map((serverJob) => runOf(serverJob, now));
    await insertRuns(tx, runs);
    await keepNotifications(tx, ready, webhooks, now);
    // A dummy without duration has already ended, and may be retried.
    await passOnEndedRuns(
      tx,
      graphs,
      runs.map((run) => ({
        graphId: run.graphId,
        job: run.job,
        outcome: run.kind === "settled" ? run.outcome : null,
        failureClass: run.kind === "settled" ? (run.failureClass ?? null) : null,
        cancelRequested: false,
      })),
    );
    if (runs.some((run) => run.kind === "server-job" && run.dueAt !== null))
      await wakeServerJobs(tx);
    return ready.length;
  });
}

function runOf(serverJob: ReadyServerJob, now: Date): NewRun {
  const { graphId, job, cause, inputRuns, kind, definition } = serverJob;
  const about = { graphId, job, cause, inputRuns };
  const begin = beginServerJob({ kind, name: job, definition }, serverJob.runs + 1, now);
  switch (begin.kind) {
    case "waits":
      return { ...about, kind: "server-job", state: "waiting", dueAt: begin.dueAt };
    case "runs":
      return { ...about, kind: "server-job", state: "running", dueAt: begin.dueAt };
    case "over":
      return { ...about, ...begin, kind: "settled" };
  }
}

/** Stores the outputs of dummies before their runs end. */
async function keepDummyOutputs(
  inProject: ServerJobServices["inProject"],
  serverJobs: readonly ReadyServerJob[],
): Promise<void> {
  await Promise.all(
    serverJobs.map(async ({ kind, job, definition, runs, project }) => {
      if (kind !== "dummy") return;
      const { store } = inProject(project);
      const outputs = dummyOutputs(job, definition, runs + 1);
      await Promise.all(outputs.map(({ digest, bytes }) => store.put(digest, bytes)));
    }),
  );
}
