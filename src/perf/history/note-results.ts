import type { Tx } from "#db/db.ts";
import { queueForExamination } from "./unexamined.store.ts";

/**
 * Marks artifacts as having new results, in a transaction after which no more are expected for a while (the end of a
 * request, an import). Soon after, their series are examined for steps. Artifacts outside of the main line are skipped.
 */
export async function noteNewResults(
  tx: Tx,
  artifactIds: readonly number[],
  now: Date,
): Promise<void> {
  await queueForExamination(tx, artifactIds, now);
}
