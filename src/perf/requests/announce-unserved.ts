import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import type { Db, Tx } from "#db/db.ts";
import { collectorViews } from "../collectors/collector-views.ts";
import type { LabTimes } from "../lab-times.ts";
import { openJobs } from "./job-duration.store.ts";
import { type UnservedPlace, unservedPlaces } from "./unserved-places.ts";

/** Returns the targets and sets for which jobs wait while no collector in duty may take them. */
export async function readUnservedPlaces(
  tx: Tx,
  now: Date,
  times: Pick<LabTimes, "leaseMs">,
): Promise<UnservedPlace[]> {
  const jobs = (await openJobs(tx)).filter(({ state }) => state === "queued");
  return jobs.length === 0 ? [] : unservedPlaces(await collectorViews(tx, now, times), jobs);
}

/**
 * Logs each target and set for which jobs start to wait without a collector in duty; once, until it is served again. A
 * request with such a job cannot end, so operators must see it in the log before they open the page.
 */
export function unservedAnnouncer(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly times: Pick<LabTimes, "leaseMs">;
  readonly logger: Pick<Logger, "warn" | "info">;
}): () => Promise<void> {
  const { db, clock, times, logger } = parts;
  const announced = new Set<string>();
  return async () => {
    const places = await readUnservedPlaces(db, clock.now(), times);
    const keys = new Set(places.map(({ target, set }) => `${target} ${set}`));
    for (const key of announced) {
      if (keys.has(key)) continue;
      announced.delete(key);
      logger.info({ place: key }, "no benchmark job waits without a collector any more");
    }
    for (const { target, set, jobs, optional, outOfDuty } of places) {
      const key = `${target} ${set}`;
      if (announced.has(key)) continue;
      announced.add(key);
      logger.warn(
        { target, set, jobs, optional, outOfDuty },
        "benchmark jobs wait, and no collector in duty can take them",
      );
    }
  };
}
