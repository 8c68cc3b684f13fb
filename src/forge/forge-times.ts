/** How often forges are read, and the waiting times. */
export interface ForgeTimes {
  /** All of a repository is compared with its forge so often: one that sends webhooks, which tell sooner; another. */
  readonly reconcileMs: number;
  readonly pollMs: number;
  /** Whoever works on a repository has it so long, and says so again three times meanwhile. */
  readonly leaseMs: number;
  /** The net below notifications. */
  readonly lookMs: number;
}

export const usualForgeTimes: ForgeTimes = {
  // GitHub gives an App 5,000 requests an hour: a full look at a quiet repository is some five, most of them
  // answered "not modified", which cost nothing.
  reconcileMs: 5 * 60_000,
  pollMs: 60_000,
  leaseMs: 15_000,
  lookMs: 2_000,
};
