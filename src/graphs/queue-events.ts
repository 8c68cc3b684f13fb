import type { Tx } from "#db/db.ts";
import type { FinishedExecution } from "#execution/finished-execution.ts";
import type { Progress } from "#execution/queue-hooks.ts";
import { advanceStoredGraph, lockGraphs } from "./advancing/advance.store.ts";
import type { GraphId } from "./graph-id.ts";
import { retriesAgain } from "./retry-again.ts";
import {
  type ChangedRun,
  type EndedRun,
  finishRuns,
  graphsOfExecutions,
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
): Promise<GraphId[]> {
  const graphs = await lockGraphs(
    tx,
    await graphsOfExecutions(
      tx,
      finished.map(({ id }) => id),
    ),
  );
  if (graphs.length === 0) return [];
  const ended = await finishRuns(tx, finished);
  for (const graph of graphs) {
    const here = ended.filter((run) => run.graphId === graph.id);
    if (!graph.cancelAsked) await retryFailed(tx, graph.id, here);
    await advanceStoredGraph(tx, graph, jobsOf(here));
  }
  return graphs.map((graph) => graph.id);
}

/** Shows whether jobs run or wait again, inside the transaction that moves their executions. */
export async function onExecutionsProgress(
  tx: Tx,
  progress: readonly Progress[],
): Promise<GraphId[]> {
  const graphs = await lockGraphs(
    tx,
    await graphsOfExecutions(
      tx,
      progress.map(({ id }) => id),
    ),
  );
  if (graphs.length === 0) return [];
  const changed = await moveRuns(tx, progress);
  for (const graph of graphs) {
    await advanceStoredGraph(tx, graph, jobsOf(changed.filter((run) => run.graphId === graph.id)));
  }
  return graphs.map((graph) => graph.id);
}

async function retryFailed(tx: Tx, graphId: GraphId, ended: readonly EndedRun[]): Promise<void> {
  // What a person wants to end does not begin again, however it ended.
  const bad = ended.filter((run) => run.outcome !== "succeeded" && !run.cancelAsked);
  if (bad.length === 0) return;
  const budgets = new Map(
    (await retryBudgets(tx, graphId, jobsOf(bad))).map((row) => [row.job, row]),
  );
  const again = bad.filter(({ job, outcome }) => {
    const { used, budget } = budgets.get(job) ?? { used: 0, budget: 0 };
    return outcome !== null && retriesAgain(outcome, used, budget);
  });
  await wantAutoRetries(tx, graphId, jobsOf(again));
}

function jobsOf(runs: readonly ChangedRun[]): string[] {
  return runs.map((run) => run.job);
}
