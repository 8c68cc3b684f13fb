import { recentlyUsed } from "#core/recently-used.ts";
import type { EndingLease } from "../finishing/decide-endings.ts";
import type { HeldRow } from "../finishing/end-leases.store.ts";
import type { HandedOutRow } from "./handed-out.store.ts";
import { type Lease, leaseKey } from "./lease.ts";

/** About 1 kB each; more than the leases that end on one server within a moment. */
const mostRemembered = 10_000;
/** Invocations whose assumptions were wrong, such as a graph, which changes with each end. */
const mostDoubted = 1_000;

/**
 * Leases as this server assigned them, until a change is reported; short executions usually have no other change. This
 * is only an assumption, and the transaction that uses it checks it.
 */
export interface LeasesHere {
  handedOut(row: HandedOutRow, workerSizeClass: number): void;
  /** Must be called when the lease has changed, for example by its start. */
  forget(lease: Lease): void;
  /** Returns and removes the rows of all endings; undefined when any row must be read. */
  take(endings: readonly EndingLease[]): readonly HeldRow[] | undefined;
  /**
   * Records that the assumption was wrong for these rows; it is then probably also wrong for other executions of their
   * invocations.
   */
  doubt(rows: readonly HeldRow[]): void;
}

export function leasesHere(): LeasesHere {
  const known = recentlyUsed<HeldRow>(mostRemembered);
  const doubted = recentlyUsed<true>(mostDoubted);
  const rowOf = ({ lease, by, end }: EndingLease): HeldRow | undefined => {
    const row = known.peek(lease.executionId);
    if (row === undefined || end.kind !== "reported") return undefined;
    if (leaseKey({ ...row, executionId: row.id }) !== leaseKey(lease)) return undefined;
    if (by !== undefined && by.instanceId !== row.workerInstance) return undefined;
    return doubted.peek(invocationOf(row)) === undefined ? row : undefined;
  };

  return {
    handedOut(row, workerSizeClass) {
      const started = { startedAt: null, cancelRequested: false, isOver: false };
      known.set(row.id, { ...row, ...started, workerSizeClass });
    },
    forget: ({ executionId }) => known.forget(executionId),
    take(endings) {
      const rows = endings.flatMap((ending) => rowOf(ending) ?? []);
      for (const { lease } of endings) known.forget(lease.executionId);
      const isEachOnce = new Set(rows.map(({ id }) => id)).size === endings.length;
      return rows.length === endings.length && isEachOnce ? rows : undefined;
    },
    doubt(rows) {
      for (const row of rows) doubted.set(invocationOf(row), true);
    },
  };
}

function invocationOf({ project, invocation }: HeldRow): string {
  return `${invocation} ${project}`;
}
