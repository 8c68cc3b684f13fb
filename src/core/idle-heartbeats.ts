/**
 * The number of heartbeat intervals between two heartbeats of a worker without a lease.
 *
 * Its heartbeats extend no lease: they only show that it is alive. The server's lease time, after which it counts as
 * lostis several times as long.
 */
export const intervalsPerIdleHeartbeat = 2;
