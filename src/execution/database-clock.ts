import type { Clock } from "#core/clock.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import { databaseTime } from "./server-time.store.ts";

/**
 * A clock that follows the clock of the database without a query for each reading.
 *
 * Several servers decide about the same leases. Each uses the one clock that they share: otherwise a server whose own
 * clock is a minute ahead would end the leases of all workers.
 */
export async function databaseClock(
  db: Db,
  own: Clock,
  everyMs = 30_000,
): Promise<Clock & Service> {
  let aheadMs = 0;
  let measuring: Promise<void> | undefined;
  const measure = async () => {
    const before = own.now().getTime();
    const theirs = await databaseTime(db);
    const after = own.now().getTime();
    aheadMs = theirs.getTime() - (before + after) / 2;
  };
  await measure();
  const timer = setInterval(() => {
    // The database is unreachable: the last known difference is used.
    measuring = measure().catch(() => {});
  }, everyMs);
  timer.unref();
  return {
    now: () => new Date(own.now().getTime() + aheadMs),
    async stop() {
      clearInterval(timer);
      await measuring;
    },
  };
}
