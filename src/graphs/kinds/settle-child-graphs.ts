import { everybody } from "#access/principal.ts";
import type { Db, Tx } from "#db/db.ts";
import { lockGraphs } from "../advancing/advance.store.ts";
import { type CancellingQueue, cancelGraph } from "../cancel-graph.ts";
import { insertRuns } from "../insert-runs.store.ts";
import { passOnEndedRuns } from "../queue-events.ts";
import type { EndedRun } from "../run.store.ts";
import { noteWhy, runsToFollow, takeOver } from "./child-ended-again.store.ts";
import {
  type ChildState,
  type EndedChild,
  endedChildren,
  markSettled,
  orphanedChildren,
  statesOfChildren,
  unmarkEnd,
} from "./child-graph.store.ts";
import { finishServerJobs } from "./server-job.store.ts";
import { type ServerJobEnd, succeeded } from "./server-job-end.ts";

const mostPerTurn = 100;

/** Ends runs whose graphs have ended, with the same outcome. Returns how many. */
export async function settleChildGraphs(db: Db): Promise<number> {
  return db.transaction(async (tx) => {
    const over = await endedChildren(tx, mostPerTurn);
    if (over.length === 0) return 0;
    // Locks the waiting graphs, not the ended ones, so that a parent and its child are never locked in opposite orders.
    const graphs = await lockGraphs(
      tx,
      over.map(({ graphId }) => graphId),
    );
    const states = await statesOfChildren(
      tx,
      over.map(({ child }) => child),
    );
    const byChild = new Map(states.map((state) => [state.child, state]));
    const settled: (EndedChild & { readonly end: ServerJobEnd })[] = [];
    for (const each of over) {
      const end = endOf(byChild.get(each.child));
      // One of its jobs was retriggered meanwhile.
      if (end === undefined) await unmarkEnd(tx, each);
      else settled.push({ ...each, end });
    }
    const ended = await finishServerJobs(
      tx,
      settled.map(({ graphId, job, run, end }) => ({ graphId, job, run, ...end })),
    );
    const followed = await followChildren(tx, settled);
    await markSettled(
      tx,
      settled.map(({ child }) => child),
    );
    await passOnEndedRuns(tx, graphs, [...ended, ...followed]);
    return over.length;
  });
}

/**
 * Starts another run of jobs whose graphs ended again with another outcome, because a job inside was retriggered.
 *
 * The new run takes the graph over and ends at once. Thus jobs that were skipped because of the job run, results that
 * used its earlier run become stale, and the graph that contains this one is updated in the same way.
 */
async function followChildren(
  tx: Tx,
  settled: readonly (EndedChild & { readonly end: ServerJobEnd })[],
): Promise<EndedRun[]> {
  const runs = await runsToFollow(
    tx,
    settled.map(({ child }) => child),
  );
  const ends = new Map(settled.map(({ child, end }) => [child, end]));
  const following = runs.flatMap((run) => {
    const end = ends.get(run.child);
    return end === undefined || end.outcome === run.outcome ? [] : [{ ...run, end }];
  });
  await noteWhy(tx, following);
  await insertRuns(
    tx,
    following.map(({ graphId, job, inputRuns, result, end }) => ({
      graphId,
      job,
      cause: "retrigger" as const,
      inputRuns,
      kind: "settled" as const,
      outcome: end.outcome,
      message: end.message,
      exitCode: end.exitCode,
      result,
    })),
  );
  await takeOver(tx, following);
  return following.map(({ graphId, job, end }) => ({
    graphId,
    job,
    outcome: end.outcome,
    failureClass: null,
    cancelRequested: false,
  }));
}

/** Returns how a run ends, from the state of its graph; undefined when the graph has not ended. */
function endOf(child: ChildState | undefined): ServerJobEnd | undefined {
  if (child === undefined) return undefined;
  switch (child.state) {
    case "running":
      return undefined;
    case "succeeded":
      return { ...succeeded, exitCode: 0 };
    case "cancelled":
      return {
        ...succeeded,
        outcome: "cancelled",
        message: `its graph ${child.child} was cancelled`,
      };
    case "failed": {
      const more = child.failures - child.failed.length;
      const names = [...child.failed, ...(more > 0 ? [`${more} more`] : [])].join(", ");
      const why = names === "" ? "" : `: ${names}`;
      return { ...succeeded, outcome: "failed", message: `its graph ${child.child} failed${why}` };
    }
  }
}

/** Cancels graphs whose run was cancelled. Returns how many. */
export async function cancelOrphans(db: Db, queue: CancellingQueue): Promise<number> {
  const orphans = await orphanedChildren(db);
  for (const child of orphans) await cancelGraph(db, queue, everybody, child);
  return orphans.length;
}
