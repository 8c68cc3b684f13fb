import type { WaitingReason } from "#api/waiting.ts";
import type { Db } from "#db/db.ts";
import type { QueueTimes } from "#execution/queue-times.ts";
import type { SeenOffer } from "#execution/submitting/queued-kinds.store.ts";
import type { GraphId } from "../graph-id.ts";
import { waitingFacts } from "./waiting-facts.store.ts";
import { whyWaiting } from "./why-waiting.ts";

/**
 * Returns why a job does not run: null when it runs or is over, undefined when there is no such
 * job.
 */
export async function jobWaiting(
  db: Db,
  graphId: GraphId,
  job: string,
  now: Date,
  times: Pick<QueueTimes, "leaseMs" | "overdueAfterMs">,
  /** The offers of workers that may be started. */
  declared: readonly SeenOffer[] = [],
): Promise<WaitingReason | null | undefined> {
  const facts = await db.transaction((tx) => waitingFacts(tx, graphId, job, now, times));
  return facts && whyWaiting(facts, now, declared);
}
