import { recentlyUsed } from "#core/recently-used.ts";
import type { HeldRow } from "../finishing/end-leases.store.ts";
import type { EndingLease } from "../finishing/settle-leases.ts";
import type { HandedOutRow } from "./handed-out.store.ts";
import { type Lease, leaseKey } from "./lease.ts";

/** About 1 kB each: more than the leases that end within a moment at one server. */
const mostRemembered = 10_000;
/** Whose assumptions came to nothing, such as a graph's, which is served with each end. */
const mostDoubted = 1_000;

/**
 * Leases as this server handed them out, until a change is reported: for short executions, mostly all that is known. It
 * is only an assumption, which the transaction that uses it checks.
 */
export interface LeasesHere {
  handedOut(row: HandedOutRow, workerSizeClass: number): void;
  /** Something has become of it, such as its start. */
  forget(lease: Lease): void;
  /** The rows of all that end, each given once; undefined where anything is to be asked. */
  take(endings: readonly EndingLease[]): readonly HeldRow[] | undefined;
  /**
   * Notes that the assumption about these was wrong; it is then probably wrong for others of their invocations, too.
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
