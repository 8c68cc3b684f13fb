import type { Clock } from "#core/clock.ts";
import { coalescer } from "#core/coalescer.ts";
import type { Db } from "#db/db.ts";
import type { Lease, WorkerProcess } from "../leasing/lease.ts";
import { notifyExecutions } from "../notify.store.ts";
import { confirmCancellations, unconfirmedCancellations } from "./cancellation.store.ts";

/** The calls in which workers wait for cancellations. */
export interface CancellationService {
  /**
   * Records which cancellations the worker has confirmed, then waits for others.
   *
   * Returns an empty list when there are none within `waitMs`, or when the signal ends the wait.
   */
  next(
    worker: WorkerProcess,
    confirmed: readonly Lease[],
    waitMs: number,
    signal: AbortSignal,
  ): Promise<readonly Lease[]>;
  /** Must be called when an execution of this process was cancelled; of any process, when it is "". */
  changed(instanceId: string): void;
  /** Ends the wait of all callers. */
  stop(): void;
}

export function cancellationService({
  db,
  clock,
}: {
  readonly db: Db;
  readonly clock: Clock;
}): CancellationService {
  const waiting = new Map<string, Set<() => void>>();
  const stopped = new AbortController();
  // One notification may wake a thousand workers: they share a query.
  const looking = coalescer(async (instances: readonly string[]) => {
    const found = await unconfirmedCancellations(db, [...new Set(instances)]);
    return instances.map((instance) => found.filter(({ instanceId }) => instanceId === instance));
  });

  const confirm = async (worker: WorkerProcess, leases: readonly Lease[]) => {
    if (leases.length === 0) return;
    await db.transaction(async (tx) => {
      const ids = await confirmCancellations(tx, worker, leases, clock.now());
      await notifyExecutions(tx, ids);
    });
  };

  return {
    async next(worker, confirmed, waitMs, signal) {
      await confirm(worker, confirmed);
      const over = AbortSignal.any([signal, stopped.signal, AbortSignal.timeout(waitMs)]);
      const { instanceId } = worker;
      const bells = waiting.get(instanceId) ?? new Set();
      waiting.set(instanceId, bells);
      let ring = () => {};
      const bell = () => ring();
      bells.add(bell);
      over.addEventListener("abort", bell);
      try {
        for (;;) {
          // Created before the query, so that notifications during the query are not lost.
          const rung = new Promise<void>((resolve) => (ring = resolve));
          const found = await looking.add(instanceId);
          if (found.length > 0 || over.aborted) return found;
          await rung;
          if (over.aborted) return [];
        }
      } finally {
        over.removeEventListener("abort", bell);
        bells.delete(bell);
        if (bells.size === 0 && waiting.get(instanceId) === bells) waiting.delete(instanceId);
      }
    },

    changed(instanceId) {
      const named = instanceId === "" ? waiting.values() : [waiting.get(instanceId) ?? []];
      for (const bells of named) for (const ring of bells) ring();
    },

    stop: () => stopped.abort(),
  };
}
