import type { Tx } from "#db/db.ts";
import { putOnList } from "./unexamined.store.ts";

/**
 * Says that artifacts have new results, in the transaction after which nobody adds to them for a while (a request
 * that ends, an import). Soon after, their series are looked through for steps. Those that are not of the main
 * line are passed over.
 */
export async function noteNewResults(
  tx: Tx,
  artifactIds: readonly number[],
  now: Date,
): Promise<void> {
  await putOnList(tx, artifactIds, now);
}
