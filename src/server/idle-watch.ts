import type { Logger } from "pino";
import { messageOf } from "#core/fault.ts";
import type { IdleState } from "#core/idle-state.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";

/** The time after the last notification within which every loop has certainly checked for work. */
const settleMs = 10_000;
/** The maximum delay until the farm finds open work when every notification was lost. */
const checkMs = 2_000;
/** The same for a farm that has been quiet for `longQuietMs`. */
const rareCheckMs = 5_000;
const longQuietMs = 60_000;

export interface IdleWatch extends IdleState, Service {}

/**
 * Watches whether the farm is idle.
 *
 * Any notification ends the idle state at once. Because notifications can be lost, the watch also checks for open work:
 * with one statement instead of those of all loops, and less often when the farm was quiet for long. While the database
 * does not answer, the farm counts as busy.
 */
export async function startIdleWatch(parts: {
  readonly db: Pick<Db, "listen">;
  readonly logger: Logger;
  /** The channels on which changes of the farm are notified. */
  readonly channels: readonly string[];
  /** Whether work waits, runs, or is due within `withinMs`. */
  readonly hasOpenWork: (withinMs: number) => Promise<boolean>;
  readonly settleMs?: number;
  readonly checkMs?: number;
  readonly rareCheckMs?: number;
  readonly longQuietMs?: number;
}): Promise<IdleWatch> {
  const { db, logger, hasOpenWork } = parts;
  const quietMs = parts.settleMs ?? settleMs;
  const oftenMs = parts.checkMs ?? checkMs;
  const rarelyMs = parts.rareCheckMs ?? rareCheckMs;
  const longMs = parts.longQuietMs ?? longQuietMs;
  const listeners = new Set<() => void>();
  let isIdle = false;
  let changedAt = performance.now();
  let changes = 0;
  let checking: Promise<void> | undefined;

  const setBusy = () => {
    if (!isIdle) return;
    isIdle = false;
    for (const busy of listeners) busy();
  };
  const changed = () => {
    changes++;
    changedAt = performance.now();
    setBusy();
  };
  const check = async (nextInMs: number) => {
    const before = changes;
    try {
      if (await hasOpenWork(nextInMs)) changed();
      else if (changes === before) isIdle = true;
    } catch (reason) {
      logger.warn({ reason: messageOf(reason) }, "could not look for open work");
      changed();
    }
    checking = undefined;
  };

  const listening = await Promise.all(parts.channels.map((name) => db.listen(name, changed)));
  let timer: NodeJS.Timeout;
  /** Plans the next check; returns the time until then, in ms. */
  const plan = (): number => {
    const everyMs = performance.now() - changedAt < longMs ? oftenMs : rarelyMs;
    timer = setTimeout(() => {
      const nextInMs = plan();
      if (performance.now() - changedAt >= quietMs) checking ??= check(nextInMs);
    }, everyMs);
    timer.unref();
    return everyMs;
  };
  plan();

  return {
    isIdle: () => isIdle,
    onBusy(busy) {
      listeners.add(busy);
      return { stop: () => void listeners.delete(busy) };
    },
    async stop() {
      clearTimeout(timer);
      await Promise.all(listening.map((each) => each.stop()));
      await checking;
    },
  };
}
