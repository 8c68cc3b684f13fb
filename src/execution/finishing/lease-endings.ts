import type { Clock } from "#core/clock.ts";
import { coalescer } from "#core/coalescer.ts";
import { preferIndexes } from "../claiming/prefer-indexes.store.ts";
import type { ExecutionId } from "../execution.ts";
import type { ExecutionWatch } from "../execution-watch.ts";
import type { LeasesHere } from "../leasing/leases-here.ts";
import type { QueueHooks } from "../queue-hooks.ts";
import type { QueueTransactions } from "../queue-transactions.ts";
import type { EndingLease, Verdict } from "./decide-endings.ts";
import { settleLeases } from "./settle-leases.ts";

/** Ends leases; those that arrive during a commit share the next one. */
export interface LeaseEndings {
  add(ending: EndingLease): Promise<Verdict>;
  idle(): Promise<void>;
  /**
   * Whether a running batch ends a lease of an execution; followers are then notified here, together with the commit.
   */
  isEnding(id: ExecutionId): boolean;
}

export function leaseEndings(parts: {
  readonly clock: Clock;
  readonly queue: QueueTransactions;
  readonly leases: LeasesHere;
  readonly watch: Pick<ExecutionWatch, "ended" | "changed">;
  readonly hooks: QueueHooks;
  readonly mostAttempts: number;
}): LeaseEndings {
  const { clock, queue, leases, watch, hooks, mostAttempts } = parts;
  const underWay = new Set<ExecutionId>();

  const batches = coalescer(async (endings: readonly EndingLease[]) => {
    const ids = endings.map(({ lease }) => lease.executionId);
    for (const id of ids) underWay.add(id);
    const remembered = leases.take(endings);
    // The assumption is used once: after a rollback because of different rows, the retry reads them.
    let assumed = remembered;
    const settled = queue.transaction(async (tx) => {
      await preferIndexes(tx);
      const assuming = assumed;
      assumed = undefined;
      if (assuming === undefined && remembered !== undefined) leases.doubt(remembered);
      return settleLeases(tx, endings, {
        now: clock.now(),
        mostAttempts,
        hooks,
        assumed: assuming,
      });
    });
    try {
      watch.ended((await settled).ended);
    } finally {
      underWay.clear();
      watch.changed(ids);
    }
    const { verdicts, afterCommit } = await settled;
    afterCommit();
    return verdicts;
  });
  return {
    add: (ending) => batches.add(ending),
    idle: () => batches.idle(),
    isEnding: (id) => underWay.has(id),
  };
}
