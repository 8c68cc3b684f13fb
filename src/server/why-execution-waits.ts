import type { WaitingReason } from "#api/waiting.ts";
import { queuePosition } from "#execution/claiming/queue-position.store.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { type WaitingNames, whyQueued } from "#graphs/times/why-queued.ts";
import { declaredOffers } from "#size-classes/declared-classes.ts";
import type { Services } from "./services.ts";

const ofActions: WaitingNames = {
  one: "action",
  whole: "invocation",
  again: "cancel it, and build again",
};

/** Returns why a build tool's execution has not started; null for one that is not in the queue. */
export async function whyExecutionWaits(
  { db, clock, queue }: Pick<Services, "db" | "clock" | "queue">,
  id: ExecutionId,
): Promise<WaitingReason | null> {
  const now = clock.now();
  const position = await db.transaction((tx) => queuePosition(tx, id, now, queue.times));
  if (position === undefined) return null;
  return whyQueued(position, now, ofActions, await declaredOffers(db));
}
