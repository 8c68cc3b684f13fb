import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { messageOf } from "#core/fault.ts";
import type { IdleState } from "#core/idle-state.ts";
import { startPacedTimer } from "#core/paced-timer.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import {
  expiredLeases,
  holdersOfLeases,
  overdueCancellations,
} from "../finishing/end-leases.store.ts";
import type { EndingLease } from "../finishing/settle-leases.ts";

/** Leases looked at in one go. */
const most = 500;

interface LeaseRescuer extends Service {
  /** Looks once; answers how many leases it ended. */
  rescueOnce(): Promise<number>;
}

/**
 * Ends leases whose workers went silent, or did not confirm a cancellation.
 *
 * Finding is apart from ending: each lease found is ended by its attempt and epoch, and only if its time is
 * over still, so that one which was finished, extended or found by another server in between is left alone.
 * (A rescuer that goes by the id alone sets back what has just been finished.)
 */
export function leaseRescuer(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly everyMs: number;
  /** Without an execution there is no lease to look for. */
  readonly idle?: IdleState | undefined;
  /** How often workers beat. */
  readonly heartbeatMs: number;
  /**
   * For so long after the start, after the database was out of reach, and after this process or its
   * machine slept, no lease counts as expired: it was we who could not be reached.
   */
  readonly graceMs: number;
  readonly cancelGraceMs: number;
  /**
   * Told of worker processes before what they held goes back into the queue: claims of theirs that wait are to be answered
   * with nothing. Their connections may be dead, and would be handed it.
   */
  readonly dismiss: (instanceIds: readonly string[]) => Promise<void>;
  readonly settle: (ending: EndingLease) => Promise<unknown>;
}): LeaseRescuer {
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
    // A shorter gap costs no lease: it is less than what a lease lasts beyond a heartbeat.
    if (tickedAt - previous > plannedMs + parts.heartbeatMs) {
      graceUntil = later(parts.graceMs);
      parts.logger.warn({ ms: tickedAt - previous }, "slept; leases get time for a heartbeat");
    }
    try {
      await rescueOnce();
    } catch (reason) {
      graceUntil = later(parts.graceMs);
      parts.logger.warn({ reason: messageOf(reason) }, "could not look for leases that are over");
    }
  };
  // From here on ticks come sooner than the last one planned.
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
