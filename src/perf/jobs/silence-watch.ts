import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import type { Db } from "#db/db.ts";
import { isAnySilent } from "../collectors/collector.store.ts";
import type { LabTimes } from "../lab-times.ts";
import { endSilentLeases } from "./end-job.ts";

/**
 * Ends the leases of collectors that went silent, and raises one alarm for each.
 *
 * During the length of a lease after the start, after an outage of the database, and after this process or its machine
 * slept, no collector counts as silent, because the farm was unreachable.
 */
export function silenceWatch(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly times: LabTimes;
}): () => Promise<void> {
  const { db, clock, logger, times } = parts;
  let lookedAt = clock.now().getTime();
  let graceUntil = lookedAt + times.leaseMs;

  return async () => {
    const now = clock.now();
    if (now.getTime() - lookedAt > times.leaseMs) graceUntil = now.getTime() + times.leaseMs;
    lookedAt = now.getTime();
    if (now.getTime() < graceUntil) return;
    try {
      if (!(await isAnySilent(db, now, new Date(now.getTime() - times.leaseMs)))) return;
      const { jobs, collectors } = await db.transaction((tx) => endSilentLeases(tx, now, times));
      for (const collector of collectors) logger.warn({ collector }, "a collector went silent");
      for (const job of jobs) logger.warn(job, "took a benchmark job from a silent collector");
    } catch (cause) {
      graceUntil = clock.now().getTime() + times.leaseMs;
      throw cause;
    }
  };
}
