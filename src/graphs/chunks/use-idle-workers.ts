import type { Db } from "#db/db.ts";
import { lockGraphs } from "../advancing/advance.store.ts";
import { runsWithWaitingItems } from "./chunked-run.store.ts";
import { nextBatches } from "./share-items.ts";

/**
 * Cuts batches for workers that have come, or have nothing to do any more.
 *
 * The end of a batch cuts the next by itself; this is for what no batch's end tells.
 */
export async function useIdleWorkers(db: Db, now: Date): Promise<void> {
  for (const run of await runsWithWaitingItems(db)) {
    await db.transaction(async (tx) => {
      await lockGraphs(tx, [run.graphId]);
      await nextBatches(tx, [run], now);
    });
  }
}
