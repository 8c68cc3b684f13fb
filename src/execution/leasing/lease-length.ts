/**
 * Returns how long the leases of a worker last without a heartbeat, in ms.
 *
 * A worker behind a bad network requests long leases: its jobs then survive a long interruption. The cost: when the
 * machine dies, its jobs wait equally long before another worker gets them, so there is a maximum. A lease shorter than
 * the usual one would expire between two heartbeats.
 */
export function grantedLeaseMs(
  requestedMs: number | null,
  times: { readonly leaseMs: number; readonly longestLeaseMs: number },
): number {
  return Math.max(times.leaseMs, Math.min(requestedMs ?? 0, times.longestLeaseMs));
}
