/**
 * How many heartbeat intervals pass between two heartbeats of a worker that holds no lease.
 *
 * Its heartbeats extend nothing: they only show that it is alive. The server's lease time, after which it
 * counts as lost, is several times as long.
 */
export const intervalsPerIdleHeartbeat = 2;
