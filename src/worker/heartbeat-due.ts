import { intervalsPerIdleHeartbeat } from "#core/idle-heartbeats.ts";

/** The last heartbeat that the farm answered. */
export interface LastHeartbeat {
  readonly wasDraining: boolean;
  /** Why the worker could run nothing; empty if it could. */
  readonly trouble: string;
  /** The container images that the farm knows of. */
  readonly images: readonly string[];
  /** Whether it named leases that the worker had lost: the farm then counts them as used slots. */
  readonly namedLost: boolean;
  /** Heartbeat intervals since then, this one included. */
  readonly intervalsAgo: number;
}

/**
 * Returns whether a worker sends a heartbeat at the end of an interval.
 *
 * Without leases it skips some, unless the farm does not know yet that the worker drains, that it has a problem, or
 * that it has ended the executions that it lost, or that its images have changed.
 */
export function isHeartbeatDue(
  holder: {
    readonly leaseCount: number;
    readonly isDraining: boolean;
    readonly trouble: string;
    readonly images: readonly string[];
  },
  last: LastHeartbeat | undefined,
): boolean {
  if (holder.leaseCount > 0 || last === undefined || last.namedLost) return true;
  if (holder.trouble !== last.trouble || !isSame(holder.images, last.images)) return true;
  return holder.isDraining !== last.wasDraining || last.intervalsAgo >= intervalsPerIdleHeartbeat;
}

/** Whether two lists of images have the same images; their order is that of their use, and changes with each action. */
export function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((image) => others.includes(image));
}
