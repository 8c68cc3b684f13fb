import type { Tx } from "#db/db.ts";
import { idleSlots } from "#execution/claiming/idle-slots.store.ts";
import type { ExecutionId } from "#execution/execution.ts";
import type { GraphId } from "../graph-id.ts";
import { wakeServerJobs } from "../kinds/server-job.store.ts";
import { afterFailure } from "./after-batch.ts";
import { chunkedRunsOf, insertBatches, markItemsOver, waitingItems } from "./chunked-run.store.ts";
import { makeBatches } from "./make-batches.ts";
import {
  type BatchEnd,
  countFailure,
  type EndedBatch,
  finishBatchesOf,
  markItemsDone,
  regroupItems,
} from "./work-batch.store.ts";

interface ChunkedJob {
  readonly graphId: GraphId;
  readonly job: string;
}

/** A worker that was silent for this time is not counted. */
const silentMs = 60_000;

/**
 * `next`: makes further batches from the items of chunked jobs, as many as there are workers for them. The graphs are
 * locked.
 *
 * They are only planned here, and become actions afterwards, so that no transaction waits for the store.
 */
export async function nextBatches(tx: Tx, jobs: readonly ChunkedJob[], now: Date): Promise<void> {
  let isAny = false;
  for (const run of await chunkedRunsOf(tx, jobs)) {
    const waiting = await waitingItems(tx, run);
    if (waiting.length === 0) {
      isAny = (await markItemsOver(tx, run)) || isAny;
      continue;
    }
    const idle = await idleSlots(tx, run, new Date(now.getTime() - silentMs));
    const batches = makeBatches(waiting, { ...run, idle });
    await insertBatches(tx, run, batches);
    isAny = isAny || batches.length > 0;
  }
  if (isAny) await wakeServerJobs(tx);
}

/** `done`: records the ends of batches, makes items of failed batches wait again, and makes the next batches. */
export async function batchesDone(
  tx: Tx,
  ended: readonly (EndedBatch & { readonly lostInputs?: boolean })[],
  now: Date,
): Promise<void> {
  const good = ended.filter(({ outcome }) => outcome === "succeeded");
  const bad = ended.filter(({ outcome }) => outcome !== "succeeded");
  if (good.length > 0) await markItemsDone(tx, good);
  if (bad.length > 0) {
    const retries = new Map(
      (await chunkedRunsOf(tx, bad)).map((run) => [`${run.graphId} ${run.job}`, run.retries]),
    );
    for (const batch of bad) {
      // A cancelled batch is not retried. If its inputs are missing, halving would not help.
      const isOver = batch.outcome === "cancelled" || batch.lostInputs === true;
      const budget = isOver ? 0 : (retries.get(`${batch.graphId} ${batch.job}`) ?? 0);
      const { again, failed } = afterFailure(await countFailure(tx, batch), budget);
      await regroupItems(tx, batch, again, failed);
    }
  }
  await nextBatches(tx, ended, now);
}

/** Ends the batches that executions served, in the transaction that ends the executions. Returns their jobs. */
export async function endBatchesOf(
  tx: Tx,
  ends: readonly (BatchEnd & {
    readonly executionId: ExecutionId;
    /** Inputs were not in the store; nothing was run. */
    readonly lostInputs: boolean;
  })[],
  now: Date,
): Promise<readonly EndedBatch[]> {
  const lost = new Set(
    ends.filter(({ lostInputs }) => lostInputs).map(({ executionId }) => executionId),
  );
  const ended = (await finishBatchesOf(tx, ends)).map((batch) => ({
    ...batch,
    lostInputs: lost.has(batch.executionId),
  }));
  if (ended.length > 0) await batchesDone(tx, ended, now);
  return ended;
}
