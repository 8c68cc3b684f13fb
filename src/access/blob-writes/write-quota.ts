import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import { addWritten, type WrittenKey } from "./written-bytes.store.ts";

/** How much a principal may write into a project on one day, counted over all servers. */
export interface WriteQuota extends Service {
  /**
   * Counts bytes before they are written. Returns a function that undoes this for bytes that were not stored.
   *
   * @throws Fault `resource_exhausted` when the quota is exceeded
   */
  take(principal: string, project: string, bytes: number): Promise<() => void>;
}

/**
 * How long bytes are counted in memory before they are stored, in ms. The quota may be exceeded bythe bytes that other
 * servers count in this time, and by the bytes that a crash loses.
 */
const storeAfterMs = 1_000;
/** Above this number of keys, keys without recent writes are dropped and read again from the table when needed. */
const mostKnown = 10_000;

interface Count {
  readonly key: WrittenKey;
  /** The bytes that all servers had written when the row was last stored. */
  stored: number;
  /** The bytes that this server has written since. */
  added: number;
}

/** Counts in memory, and stores the sums about once a second, so that a small blob needs no SQL statement. */
export function openWriteQuota(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  /** For each principal in each project; undefined for no limit. */
  readonly bytesPerDay: number | undefined;
}): WriteQuota {
  const { db, clock, logger, bytesPerDay } = parts;
  if (bytesPerDay === undefined) return { take: async () => () => {}, stop: async () => {} };
  const most = bytesPerDay;
  const counts = new Map<string, Promise<Count>>();
  const changed = new Set<Count>();
  let timer: NodeJS.Timeout | undefined;
  let storing = Promise.resolve();

  async function load(key: WrittenKey): Promise<Count> {
    const [stored = 0] = await addWritten(db, [{ ...key, bytes: 0 }]);
    return { key, stored, added: 0 };
  }

  function countOf(key: WrittenKey): Promise<Count> {
    const name = JSON.stringify(key);
    const known = counts.get(name);
    if (known !== undefined) return known;
    if (counts.size >= mostKnown) for (const [each] of counts) if (forgetOne(each)) break;
    const loaded = load(key);
    counts.set(name, loaded);
    loaded.catch(() => counts.delete(name));
    return loaded;
  }

  function forgetOne(name: string): boolean {
    for (const { key } of changed) if (JSON.stringify(key) === name) return false;
    return counts.delete(name);
  }

  async function storeNow(): Promise<void> {
    const all = [...changed].map((count) => ({ count, bytes: count.added }));
    changed.clear();
    if (all.length === 0) return;
    try {
      const totals = await addWritten(
        db,
        all.map(({ count, bytes }) => ({ ...count.key, bytes })),
      );
      all.forEach(({ count, bytes }, index) => {
        count.added -= bytes;
        count.stored = totals[index] ?? count.stored;
      });
    } catch (err) {
      logger.warn({ err }, "what was written could not be counted; it is counted later");
      for (const { count } of all) changed.add(count);
      storeSoon();
    }
  }

  function storeSoon(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      storing = storing.then(storeNow);
    }, storeAfterMs).unref();
  }

  function add(count: Count, bytes: number): void {
    count.added += bytes;
    changed.add(count);
    storeSoon();
  }

  return {
    async take(principal, project, bytes) {
      const now = clock.now();
      const count = await countOf({ principal, project, day: dayOf(now) });
      const written = count.stored + count.added;
      if (written + bytes > most) throw tooMuch(count.key, written, bytes, most, now);
      add(count, bytes);
      return () => add(count, -bytes);
    },
    async stop() {
      clearTimeout(timer);
      await storing;
      await storeNow();
    },
  };
}

/** In UTC, as `2026-11-24`. */
export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

function tooMuch(
  { principal, project, day }: WrittenKey,
  written: number,
  bytes: number,
  most: number,
  now: Date,
): Fault {
  const tomorrow = `${dayOf(new Date(now.getTime() + 24 * 60 * 60_000))}T00:00Z`;
  return new Fault(
    "resource_exhausted",
    `${principal} has written ${written} of ${most} bytes into ${project} on ${day}, and ${bytes} more are too many: ` +
      `try again after ${tomorrow}, or ask the operator of the farm for a higher limit (GRANGE_WRITE_QUOTA)`,
  );
}
