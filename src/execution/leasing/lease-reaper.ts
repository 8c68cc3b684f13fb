import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { messageOf } from "#core/fault.ts";
import type { IdleState } from "#core/idle-state.ts";
import { startPacedTimer } from "#core/paced-timer.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import type { EndingLease } from "../finishing/decide-endings.ts";
import {
  expiredLeases,
  holdersOfLeases,
  overdueCancellations,
} from "../finishing/end-leases.store.ts";

/** The number of leases checked at once. */
const most = 500;

interface LeaseReaper extends Service {
  /** Checks once; returns the number of ended leases. */
  rescueOnce(): Promise<number>;
}

/**
 * Ends leases whose workers became silent or did not confirm a cancellation.
 *
 * Finding and ending are separate: each lease is ended by its attempt and epoch, and only if it is still over. A lease
 * that was finished, extended or found by another server in between is left alone. (Ending by id alone would reset an
 * execution that has just finished.)
 */
export function leaseReaper(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly everyMs: number;
  /** Without executions there are no leases to check. */
  readonly idle?: IdleState | undefined;
  /** The heartbeat interval of workers. */
  readonly heartbeatMs: number;
  /**
   * For this time after the start, after an outage of the database, and after this process or its machine slept, no
   * lease expires, because the workers could not reach this server. In ms.
   */
  readonly graceMs: number;
  readonly cancelGraceMs: number;
  /**
   * Called with worker processes before their executions go back into the queue, to end their waiting claims without
   * work. Their connections may be dead, and they would otherwise get the work.
   */
  readonly dismiss: (instanceIds: readonly string[]) => Promise<void>;
  readonly settle: (ending: EndingLease) => Promise<unknown>;
}): LeaseReaper {
  const later = (ms: number) => parts.clock.now().getTime() + ms;
  let graceUntil = later(parts.graceMs);
  let tickedAt = later(0);
  let running: Promise<void> | undefined;

  const endAll = async (endings: readonly EndingLease[]) => {
    const ended = await Promise.allSettled(endings.map(parts.settle));
    for (const each of ended)
      if (each.status === "rejected")
        parts.logger.error({ reason: messageOf(each.reason) }, "could not end a lease");
  };

  const rescueOnce = async () => {
    const now = parts.clock.now();
    const overdue = await overdueCancellations(
      parts.db,
      new Date(now.getTime() - parts.cancelGraceMs),
      most,
    );
    await endAll(overdue.map((lease) => ({ lease, end: { kind: "cancel-overdue" } })));
    if (now.getTime() < graceUntil) return overdue.length;
    const expired = await expiredLeases(parts.db, now, most);
    if (expired.length > 0) await parts.dismiss(await holdersOfLeases(parts.db, expired));
    await endAll(expired.map((lease) => ({ lease, end: { kind: "expired" } })));
    if (expired.length > 0) parts.logger.warn({ leases: expired.length }, "took leases back");
    return overdue.length + expired.length;
  };

  const tick = async (plannedMs: number) => {
    const previous = tickedAt;
    tickedAt = later(0);
    // A shorter gap ends no lease: it is shorter than the time between a heartbeat and the lease's expiry.
    if (tickedAt - previous > plannedMs + parts.heartbeatMs) {
      graceUntil = later(parts.graceMs);
      parts.logger.warn(
        { ms: tickedAt - previous },
        "the process was suspended; leases get time for a heartbeat",
      );
    }
    try {
      await rescueOnce();
    } catch (reason) {
      graceUntil = later(parts.graceMs);
      parts.logger.warn({ reason: messageOf(reason) }, "could not look for leases that are over");
    }
  };
  // From here on, rounds run earlier than last planned.
  const busy = parts.idle?.onBusy(() => {
    tickedAt = later(0);
  });
  const endTimer = startPacedTimer(parts.everyMs, parts.idle, (plannedMs) => {
    running ??= tick(plannedMs).finally(() => {
      running = undefined;
    });
  });

  return {
    rescueOnce,
    async stop() {
      endTimer();
      busy?.stop();
      await running;
    },
  };
}
