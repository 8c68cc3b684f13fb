import type { Db } from "#db/db.ts";
import { lockGraphs } from "../advancing/advance.store.ts";
import { runsWithWaitingItems } from "./chunked-run.store.ts";
import { nextBatches } from "./share-items.ts";

/**
 * Makes batches for new and idle workers.
 *
 * When a batch ends, the next one is made at once; this covers the other cases.
 */
export async function useIdleWorkers(db: Db, now: Date): Promise<void> {
  for (const run of await runsWithWaitingItems(db)) {
    await db.transaction(async (tx) => {
      await lockGraphs(tx, [run.graphId]);
      await nextBatches(tx, [run], now);
    });
  }
}
