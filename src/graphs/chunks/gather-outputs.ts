import type { Logger } from "pino";
import { Fault, messageOf } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { lockGraphs } from "../advancing/advance.store.ts";
import { finishServerJobs } from "../kinds/server-job.store.ts";
import { type ServerJobEnd, succeeded } from "../kinds/server-job-end.ts";
import type { InProject } from "../project-of-jobs.ts";
import { passOnEndedRuns } from "../queue-events.ts";
import {
  failedItems,
  markRunOver,
  type RunToGather,
  resultsOfBatches,
  takeRunsToGather,
} from "./gather.store.ts";
import { mergeResults } from "./merge-results.ts";

interface GatheringServices {
  readonly db: Db;
  readonly inProject: InProject;
  readonly logger: Logger;
}

const mostPerTurn = 8;
/** After this time, other servers take over from a dead one. */
const turnMs = 60_000;

/**
 * Ends runs whose items have all ended, with the merged outputs of their batches. Returns the number of examined runs.
 */
export async function gatherOutputs(services: GatheringServices, now: Date): Promise<number> {
  const until = new Date(now.getTime() + turnMs);
  const taken = await takeRunsToGather(services.db, now, until, mostPerTurn);
  for (const run of taken) {
    try {
      await endRun(services, run, await endOf(services, run));
    } catch (reason) {
      const { graphId: graph, job } = run;
      services.logger.warn(
        { graph, job, reason: messageOf(reason) },
        "outputs could not be gathered; trying again",
      );
    }
  }
  return taken.length;
}

async function endOf(
  { db, inProject }: GatheringServices,
  run: RunToGather,
): Promise<ServerJobEnd> {
  const { store } = inProject(run.project);
  const { failed, names, outcome, message } = await failedItems(db, run);
  try {
    const outputs = run.definition.outputs ?? [];
    const result = await mergeResults(store, await resultsOfBatches(db, run), outputs);
    if (failed === 0) return { ...succeeded, exitCode: 0, result };
    const more = failed > names.length ? ` and ${failed - names.length} more` : "";
    const why = message === null ? "" : ` (${message})`;
    return {
      ...succeeded,
      outcome: outcome === null || outcome === "succeeded" ? "failed" : outcome,
      message: `${failed === 1 ? "an item" : `${failed} items`} failed: ${names.join(", ")}${more}${why}`,
      result,
    };
  } catch (reason) {
    if (!(reason instanceof Fault) || reason.code !== "invalid_argument") throw reason;
    const conflict = `the batches' outputs do not fit together: ${reason.message}`;
    return { ...succeeded, outcome: "failed", message: conflict };
  }
}

async function endRun(
  { db }: GatheringServices,
  run: RunToGather,
  end: ServerJobEnd,
): Promise<void> {
  const { graphId, job } = run;
  await db.transaction(async (tx) => {
    const graphs = await lockGraphs(tx, [graphId]);
    const ended = await finishServerJobs(tx, [{ ...end, graphId, job, run: run.run }]);
    await markRunOver(tx, run);
    // Its retries were used for its items.
    await passOnEndedRuns(tx, graphs, ended, { retry: false });
  });
}
