/** The time limits between collectors and their servers. */
export interface LabTimes {
  /** When a collector is silent for this long, its job is requeued, and the collector is shown offline. */
  readonly leaseMs: number;
  /** Several heartbeats per lease: all but one may be lost. */
  readonly heartbeatMs: number;
  /** A failure with a temporary reason (an unreachable registry) is retried after this time. */
  readonly retryAfterMs: number;
  /**
   * How often a waiting claim checks without a notification: every notification may be lost, and jobs become due by
   * time alone.
   */
  readonly pollMs: number;
  /** How often a collector compares an artifact with itself. */
  readonly selfTestEveryMs: number;
  /** The same after a failed test, because a person who repairs the machine waits for it. */
  readonly failedSelfTestEveryMs: number;
}

const heartbeatsToALease = 4;
const defaultLeaseMs = 60_000;

/** Returns the times of a lab with this lease. */
export function labTimesFor(leaseMs: number): LabTimes {
  const heartbeatMs = Math.round(leaseMs / heartbeatsToALease);
  return {
    leaseMs,
    heartbeatMs,
    retryAfterMs: Math.round(leaseMs / 2),
    pollMs: Math.min(5_000, heartbeatMs),
    selfTestEveryMs: 7 * 24 * 3_600_000,
    failedSelfTestEveryMs: 3_600_000,
  };
}

export const labTimes: LabTimes = labTimesFor(defaultLeaseMs);
