import type { Lease } from "#execution/leasing/lease.ts";
import type { Held } from "#execution/leasing/worker-principal.store.ts";

/**
 * Whose a lease is that somebody names.
 *
 * `over` happens to every honest worker that was away for too long. `foreign` and `forged` do not: the one is
 * held by another principal's worker now, the other was never handed out.
 */
export type LeaseStanding = "own" | "over" | "foreign" | "forged";

export function judgeLease(lease: Lease, held: Held | undefined, principal: string): LeaseStanding {
  // Retention has taken it, or there never was one: nobody can tell.
  if (held === undefined) return "over";
  if (lease.epoch > held.epoch) return "forged";
  // An epoch never comes back: what is not held under it now never will be.
  if (!held.isLeased || lease.epoch < held.epoch) return "over";
  if (lease.attempt !== held.attempt) return "forged";
  return held.principal === principal ? "own" : "foreign";
}
