import type { Logger } from "pino";
import type { CacheUseKind } from "#api/cache-use.ts";
import type { Clock } from "#core/clock.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import { addCacheUse } from "./cache-use.store.ts";

/** Counts how often caches had what was requested, by project, kind and hour. */
export interface CacheUse extends Service {
  /** Counts one request. It costs no statement: counts are stored a few seconds later, many in one statement. */
  count(project: string, kind: CountedKind, isHit: boolean): void;
}

/** The kinds that are counted here; those of jobs and granaries follow from their own records. */
type CountedKind = Exclude<CacheUseKind, "jobs" | "granaries">;

/** A crash loses the counts of this time. */
const storeAfterMs = 5_000;
const hourMs = 60 * 60_000;
/** Any caller may read under any project name: beyond this number in an hour, new names are not counted. */
const mostNames = 1_000;

interface Count {
  readonly project: string;
  readonly kind: CountedKind;
  readonly hour: Date;
  hits: number;
  misses: number;
}

export function openCacheUse(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
}): CacheUse {
  const { db, clock, logger } = parts;
  let hourAt = 0;
  let names = new Set<string>();
  let counts = new Map<string, Count>();
  let timer: NodeJS.Timeout | undefined;
  let storing = Promise.resolve();

  async function storeNow(): Promise<void> {
    const counted = [...counts.values()];
    counts = new Map();
    if (counted.length === 0) return;
    try {
      await addCacheUse(db, counted);
    } catch (err) {
      logger.warn({ err }, "the use of caches could not be counted; pages will not include it");
    }
  }

  function store(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    storing = storing.then(storeNow);
    return storing;
  }

  return {
    count(project, kind, isHit) {
      const at = Math.floor(clock.now().getTime() / hourMs) * hourMs;
      if (at !== hourAt) names = new Set();
      hourAt = at;
      const name = `${kind} ${project}`;
      if (!names.has(name)) {
        if (names.size >= mostNames) return;
        names.add(name);
      }
      const key = `${at} ${name}`;
      const count = counts.get(key) ?? { project, kind, hour: new Date(at), hits: 0, misses: 0 };
      counts.set(key, count);
      if (isHit) count.hits++;
      else count.misses++;
      timer ??= setTimeout(() => void store(), storeAfterMs).unref();
    },
    stop: store,
  };
}
