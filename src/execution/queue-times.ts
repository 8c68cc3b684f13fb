/** The queue's numbers. All times in milliseconds. */
export interface QueueTimes {
  /** How long a lease lasts without a heartbeat. */
  readonly leaseMs: number;
  /** The longest lease that a worker can ask for. */
  readonly longestLeaseMs: number;
  /** The interval of worker heartbeats: several may be lost before the lease is lost. */
  readonly heartbeatMs: number;
  readonly mostAttempts: number;
  readonly rescueEveryMs: number;
  readonly graceMs: number;
  /** How long a worker may take to confirm a cancellation. */
  readonly cancelGraceMs: number;
  /** How late a waiting claim finds work when every wake-up was lost. */
  readonly pollMs: number;
  /** An execution that has waited this long is exempt from lanes and shares: see `isOverdue`. */
  readonly overdueAfterMs: number;
  /** How often second runs are started and checked. */
  readonly hedgeEveryMs: number;
  /** How late a follower learns of a change when the notification was lost. */
  readonly sweepEveryMs: number;
}

export const defaultTimes: QueueTimes = {
  leaseMs: 15_000,
  longestLeaseMs: 60 * 60_000,
  heartbeatMs: 3_000,
  mostAttempts: 5,
  rescueEveryMs: 1_000,
  // As long as a lease: every living worker has sent a heartbeat by then.
  graceMs: 15_000,
  cancelGraceMs: 20_000,
  pollMs: 1_000,
  // The acceptable wait: fairness must not cause a longer one.
  overdueAfterMs: 15 * 60_000,
  hedgeEveryMs: 500,
  sweepEveryMs: 5_000,
};

/** A restarted worker is back within this time. */
export const restartedWithinMs = 2 * 60_000;
