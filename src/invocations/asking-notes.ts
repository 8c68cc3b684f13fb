import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { messageOf } from "#core/fault.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import { commitWithoutWaiting } from "#execution/claiming/prefer-indexes.store.ts";
import { type Asking, invocationKey } from "./asking.ts";
import { type CacheLookup, saveCacheLookups } from "./cache-lookup.store.ts";
import {
  type Departure,
  noteDepartures,
  noteInvocations,
  type Sighting,
} from "./invocation.store.ts";
import { openConnections } from "./open-connections.ts";

/** Records which clients call, slightly later and many in one batch. */
export interface AskingNotes extends Service {
  /**
   * Records a call. Cheap: most calls of an invocation change nothing.
   *
   * @param peer the connection of the call: when the last one of an invocation closes, its tool has left
   */
  heard(asking: Asking, peer?: string): void;
  /** Records that a connection closed. */
  closed(peer: string): void;
  lookedUp(asking: Asking, actionDigest: Digest, hit: boolean): void;
  /** Whether this server knows that the invocation was cancelled. The information may arrive later. */
  isCancelled(asking: Asking): boolean;
  /** Writes all pending rows now. */
  flush(): Promise<void>;
}

/** How often the sighting of an active invocation is stored. */
const sightEveryMs = 10_000;
const flushAfterMs = 250;
/**
 * The maximum number of pending records, of some hundred bytes each. Further ones are not counted, which only affects
 * pages.
 */
const mostLookups = 50_000;
const mostInvocations = 10_000;
const perStatement = 2_000;

interface Known {
  notedAt: number;
  isCancelled: boolean;
}

/** Records are stored later and together: a crash loses the page counts of the last quarter of a second. */
export function askingNotes(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Gets each lookup, also those without an invocation. */
  readonly countLookup?: (project: string, isHit: boolean) => void;
}): AskingNotes {
  const { db, clock, logger, countLookup } = parts;
  const known = recentlyUsed<Known>(mostInvocations);
  const connections = openConnections();
  let sightings = new Map<string, Sighting>();
  let departures = new Map<string, Departure>();
  let lookups = new Map<string, CacheLookup>();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    const seen = [...sightings.values()];
    const looked = [...lookups.values()];
    const left = [...departures.values()];
    sightings = new Map();
    departures = new Map();
    lookups = new Map();
    try {
      for (const some of slices(seen)) {
        const cancelled = await db.transaction(async (tx) => {
          await commitWithoutWaiting(tx);
          return noteInvocations(tx, some);
        });
        for (const each of cancelled) {
          known.set(invocationKey(each), { notedAt: clock.now().getTime(), isCancelled: true });
        }
      }
      for (const some of slices(left)) {
        await db.transaction(async (tx) => {
          await commitWithoutWaiting(tx);
          await noteDepartures(tx, some);
        });
      }
      for (const some of slices(looked)) {
        await db.transaction(async (tx) => {
          await commitWithoutWaiting(tx);
          await saveCacheLookups(tx, some);
        });
      }
    } catch (reason) {
      logger.warn(
        { reason: messageOf(reason), calls: seen.length, lookups: looked.length },
        "requests of build tools could not be recorded; counts on pages will be too low",
      );
    }
  };

  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    flushing = flushing.then(write);
    return flushing;
  };
  const soon = () => {
    timer ??= setTimeout(() => void flush(), flushAfterMs);
  };

  return {
    heard(asking, peer) {
      if (asking.invocation === "") return;
      const key = invocationKey(asking);
      const at = clock.now();
      if (peer !== undefined) connections.used(peer, key, asking);
      departures.delete(key);
      const found = known.peek(key);
      if (found !== undefined && at.getTime() - found.notedAt < sightEveryMs) return;
      if (sightings.size >= mostInvocations) return;
      known.set(key, { notedAt: at.getTime(), isCancelled: found?.isCancelled ?? false });
      sightings.set(key, { ...asking, at });
      soon();
    },
    closed(peer) {
      const at = clock.now();
      for (const [key, { project, invocation }] of connections.closed(peer)) {
        departures.set(key, { project, invocation, at });
        const found = known.peek(key);
        // Its next call is stored at once, so that it counts as running again.
        if (found !== undefined) known.set(key, { ...found, notedAt: 0 });
        soon();
      }
    },
    lookedUp(asking, actionDigest, hit) {
      countLookup?.(asking.project, hit);
      if (asking.invocation === "") return;
      const key = `${invocationKey(asking)} ${digestKey(actionDigest)}`;
      if (lookups.size >= mostLookups && !lookups.has(key)) return;
      lookups.set(key, { asking, actionDigest, hit, at: clock.now() });
      soon();
    },
    isCancelled: (asking) =>
      asking.invocation !== "" && known.peek(invocationKey(asking))?.isCancelled === true,
    flush,
    async stop() {
      await flush();
      clearTimeout(timer);
    },
  };
}

function* slices<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += perStatement) yield all.slice(at, at + perStatement);
}
