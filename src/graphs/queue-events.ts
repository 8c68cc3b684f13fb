import type { Tx } from "#db/db.ts";
import type { FinishedExecution } from "#execution/finishing/finished-execution.ts";
import type { Progress } from "#execution/queue-hooks.ts";
import {
  advanceStoredGraphs,
  type GraphEvent,
  type LockedGraph,
  lockGraphs,
} from "./advancing/advance.store.ts";
import { endBatchesOf } from "./chunks/share-items.ts";
import { moveBatches } from "./chunks/work-batch.store.ts";
import type { GraphId } from "./graph-id.ts";
import { continueSeries } from "./reruns/series.store.ts";
import { retriesOn } from "./retry-again.ts";
import {
  type EndedRun,
  finishRuns,
  graphsServedBy,
  type JobKey,
  moveRuns,
  retryBudgets,
  wantAutoRetries,
} from "./run.store.ts";

/**
 * Advances the graphs whose runs these executions served, inside the transaction that ends them.
 *
 * A run and its execution therefore end together, or neither does.
 */
export async function onExecutionsFinished(
  tx: Tx,
  finished: readonly FinishedExecution[],
  /** The result of `graphsServedBy` in this transaction, under the locks of the executions. */
  served?: readonly GraphId[],
): Promise<GraphId[]> {
  const known =
    served ??
    (await graphsServedBy(
      tx,
      finished.map(({ id }) => id),
    ));
  if (known.length === 0) return [];
  const graphs = await lockGraphs(tx, known);
  const [first] = finished;
  if (graphs.length === 0 || first === undefined) return [];
  const ended = await finishRuns(tx, finished);
  const batches = await endBatchesOf(
    tx,
    finished.map((execution) => ({
      executionId: execution.id,
      lostInputs: execution.missingInputs.length > 0,
      outcome: execution.outcome,
      message: execution.message === "" ? null : execution.message,
      worker: execution.worker ?? null,
      startedAt: execution.startedAt ?? null,
      result: execution.result ?? null,
      cached: false,
    })),
    first.finishedAt,
  );
  // The end of a batch is not the end of its run, but pages show it.
  const goingOn = { outcome: null, failureClass: null, cancelRequested: false };
  await passOnEndedRuns(tx, graphs, [
    ...ended,
    ...batches.map(({ graphId, job }) => ({ graphId, job, ...goingOn })),
  ]);
  return graphs.map((graph) => graph.id);
}

/**
 * Retries jobs whose runs have ended, where their definitions allow it, and advances the locked graphs.
 *
 * Runs without an outcome have not ended: they have started or moved.
 */
export async function passOnEndedRuns(
  tx: Tx,
  graphs: readonly LockedGraph[],
  changed: readonly EndedRun[],
  /** Whether failed jobs may be retried. */
  { retry } = { retry: true },
): Promise<void> {
  const ended = changed.filter(({ outcome }) => outcome !== null);
  if (ended.length > 0) await wantFurtherRuns(tx, graphs, ended, retry);
  await advanceStoredGraphs(tx, graphEventsOf(graphs, changed));
}

async function wantFurtherRuns(
  tx: Tx,
  graphs: readonly LockedGraph[],
  ended: readonly EndedRun[],
  retry: boolean,
): Promise<void> {
  const cancelled = new Set(
    graphs.filter(({ cancelRequested }) => cancelRequested).map(({ id }) => id),
  );
  const inSeries = await continueSeries(
    tx,
    ended.map((run) => ({ ...run, isLast: run.cancelRequested || cancelled.has(run.graphId) })),
  );
  if (!retry) return;
  const ofSeries = new Set(inSeries.map((run) => keyOf(run)));
  await retryFailed(
    tx,
    ended.filter((run) => !cancelled.has(run.graphId) && !ofSeries.has(keyOf(run))),
  );
}

/** Shows whether jobs run or wait again, inside the transaction that moves their executions. */
export async function onExecutionsProgress(
  tx: Tx,
  progress: readonly Progress[],
): Promise<GraphId[]> {
  const graphs = await lockGraphs(
    tx,
    await graphsServedBy(
      tx,
      progress.map(({ id }) => id),
    ),
  );
  if (graphs.length === 0) return [];
  const moved = [...(await moveRuns(tx, progress)), ...(await moveBatches(tx, progress))];
  await advanceStoredGraphs(tx, graphEventsOf(graphs, moved));
  return graphs.map((graph) => graph.id);
}

async function retryFailed(tx: Tx, ended: readonly EndedRun[]): Promise<void> {
  // A run with a requested cancellation is not retried, regardless of its end.
  const bad = ended.filter((run) => run.outcome !== "succeeded" && !run.cancelRequested);
  if (bad.length === 0) return;
  const budgets = new Map((await retryBudgets(tx, bad)).map((row) => [keyOf(row), row]));
  const account = (run: EndedRun) => {
    const { outcome, failureClass, lostInputs = false } = run;
    const allowed = budgets.get(keyOf(run));
    return outcome === null || allowed === undefined
      ? undefined
      : retriesOn({ ...allowed, outcome, failureClass, lostInputs });
  };
  for (const each of ["retries", "input-losses"] as const)
    await wantAutoRetries(
      tx,
      bad.filter((run) => account(run) === each),
      each,
    );
}

/** Groups the jobs of these runs by graph. */
export function graphEventsOf(
  graphs: readonly LockedGraph[],
  runs: readonly JobKey[],
): GraphEvent[] {
  const jobs = new Map<GraphId, string[]>();
  for (const { graphId, job } of runs) {
    const here = jobs.get(graphId);
    if (here === undefined) jobs.set(graphId, [job]);
    else here.push(job);
  }
  return graphs.map((graph) => ({ graph, jobs: jobs.get(graph.id) ?? [] }));
}

function keyOf({ graphId, job }: JobKey): string {
  return `${graphId} ${job}`;
}
