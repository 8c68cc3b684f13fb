import type { Tx } from "#db/db.ts";
import { noteNewResults } from "../history/note-results.ts";
import { isWaitedFor } from "./job-in-hand.store.ts";

/**
 * Has the figures of an optional job looked through for steps that came after its requests had ended: whoever waits
 * for others sees to them when it ends.
 */
export async function noteLateResults(
  tx: Tx,
  job: { readonly id: string; readonly artifactId: number },
  now: Date,
): Promise<void> {
  if (!(await isWaitedFor(tx, job.id))) await noteNewResults(tx, [job.artifactId], now);
}
