import type { Lease } from "#execution/leasing/lease.ts";
import type { Held } from "#execution/leasing/worker-principal.store.ts";

/**
 * The relation between a lease and the worker that names it.
 *
 * `over` happens to every honest worker that was disconnected for too long. `foreign` and `forged` do not: a foreign
 * lease belongs to a worker of another principal, and a forged one was never granted.
 */
export type LeaseStanding = "own" | "over" | "foreign" | "forged";

export function judgeLease(lease: Lease, held: Held | undefined, principal: string): LeaseStanding {
  // Retention has removed the execution, or it never existed: this cannot be distinguished.
  if (held === undefined) return "over";
  if (lease.epoch > held.epoch) return "forged";
  // Epochs only grow: a lease that is not active with its epoch now never becomes active again.
  if (!held.isLeased || lease.epoch < held.epoch) return "over";
  if (lease.attempt !== held.attempt) return "forged";
  return held.principal === principal ? "own" : "foreign";
}
