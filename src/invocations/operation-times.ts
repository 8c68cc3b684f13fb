/** The time limits of operations. */
export interface OperationTimes {
  /** How long an operation may be without listeners before it counts as abandoned. Bazel reconnects within seconds. */
  readonly graceMs: number;
  /** How often a server stores which operations have listeners. */
  readonly renewEveryMs: number;
}

export const defaultOperationTimes: OperationTimes = { graceMs: 60_000, renewEveryMs: 20_000 };

/** Returns until when an operation that has a listener now counts as watched. */
export function watchedUntil(now: Date, { graceMs, renewEveryMs }: OperationTimes): Date {
  return new Date(now.getTime() + graceMs + renewEveryMs);
}
