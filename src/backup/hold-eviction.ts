import { join } from "node:path";
import { Fault } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import { type HeldLock, takeLock } from "#machine/holder-lock.ts";

/** A round of eviction looks at a million blobs in a minute. */
const evictionEndsWithinMs = 15 * 60_000;
const askAgainAfterMs = 500;
/** This holder name in eviction's lock means a backup, not a round of eviction. */
const evictionHolder = "grange backup";

/** Pauses eviction between the reading of the database and the copying of the blobs. */
export async function holdEviction(store: string, signal: AbortSignal): Promise<HeldLock> {
  const until = performance.now() + evictionEndsWithinMs;
  for (;;) {
    signal.throwIfAborted();
    const taken = await takeLock(join(store, "eviction.lock"), evictionHolder);
    if ("lock" in taken) return taken.lock;
    const { name, where, since } = taken.holder;
    if (name === evictionHolder) {
      throw new Fault(
        "failed_precondition",
        `another backup of this farm (${where}) has been under way since ${since}; wait until it has ended`,
      );
    }
    if (performance.now() > until) {
      throw new Fault(
        "unavailable",
        `blobs have been evicted (${where}) since ${since}; run the backup again when this has ended`,
      );
    }
    await rest(askAgainAfterMs);
  }
}
