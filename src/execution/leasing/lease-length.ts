/**
 * How long the leases of a worker last without a heartbeat, in ms.
 *
 * A worker behind a bad network asks for long ones: its jobs then survive as long an absence. The
 * price is paid when the machine dies, for its jobs wait as long before another one takes them. So there
 * is a longest; and a shorter lease than everybody's would be lost between two heartbeats.
 */
export function grantedLeaseMs(
  requestedMs: number | null,
  times: { readonly leaseMs: number; readonly longestLeaseMs: number },
): number {
  return Math.max(times.leaseMs, Math.min(requestedMs ?? 0, times.longestLeaseMs));
}
