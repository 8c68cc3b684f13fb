/** How long what is kept of operations holds. */
export interface OperationTimes {
  /** How long nobody may listen before an operation is taken for abandoned. Bazel reconnects within seconds. */
  readonly graceMs: number;
  /** How often a server says for which operations somebody listens to it. */
  readonly renewEveryMs: number;
}

export const usualOperationTimes: OperationTimes = { graceMs: 60_000, renewEveryMs: 20_000 };

/** Until when an operation counts as watched that somebody listens to now. */
export function watchedUntil(now: Date, { graceMs, renewEveryMs }: OperationTimes): Date {
  return new Date(now.getTime() + graceMs + renewEveryMs);
}
