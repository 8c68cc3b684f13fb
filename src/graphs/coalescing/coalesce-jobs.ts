import type { Db } from "#db/db.ts";
import type { CancellingQueue } from "../cancel-graph.ts";
import { endWaiting } from "../expiry/end-waiting.ts";
import { chooseCoalesced } from "./choose-coalesced.ts";
import { coalescibleJobs, setCoalescedAside } from "./coalescing.store.ts";

/**
 * Coalesces older waiting jobs of a key into the newest one. Returns how many were set aside.
 *
 * Nothing is merged: an older job refers to the run that is used for it, and runs itself if it is activated.
 */
export async function coalesceJobs(db: Db, queue: CancellingQueue, now: Date): Promise<number> {
  let ended = 0;
  for (const waiting of await coalescibleJobs(db, now)) {
    const chosen = chooseCoalesced(waiting);
    if (chosen === undefined) continue;
    const { into, older } = chosen;
    ended += await endWaiting(
      db,
      queue,
      older,
      (tx, unbegun) => setCoalescedAside(tx, into, older, unbegun, now),
      [into.graphId],
    );
  }
  return ended;
}
