/**
 * Returns how long the leases of a worker last without a heartbeat, in ms.
 *
 * A worker behind a bad network requests long leases: its jobs then survive a long absence. The cost: when the machine
 * dies, its jobs wait as long before another worker gets them. So there is a maximum. A lease shorter than the usual
 * one would expire between two heartbeats.
 */
export function grantedLeaseMs(
  requestedMs: number | null,
  times: { readonly leaseMs: number; readonly longestLeaseMs: number },
): number {
  return Math.max(times.leaseMs, Math.min(requestedMs ?? 0, times.longestLeaseMs));
}
