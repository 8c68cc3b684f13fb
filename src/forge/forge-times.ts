/** How often forges are read, and the waiting times. */
export interface ForgeTimes {
  /**
   * The intervals of full comparisons of a repository with its forge: with webhooks, which report changes sooner; and
   * without.
   */
  readonly reconcileMs: number;
  readonly pollMs: number;
  /** The length of a lease on a repository; its holder renews it three times within this time. */
  readonly leaseMs: number;
  /** The polling interval in case notifications are lost. */
  readonly lookMs: number;
}

export const defaultForgeTimes: ForgeTimes = {
  // GitHub gives an App 5,000 requests an hour: a full reading of an unchanged repository takes about five, most of
  // them answered "not modified", which cost nothing.
  reconcileMs: 5 * 60_000,
  pollMs: 60_000,
  // With a look, a dead holder is replaced within 10 s.
  leaseMs: 7_000,
  lookMs: 2_000,
};
