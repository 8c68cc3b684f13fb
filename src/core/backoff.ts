const firstMs = 100;
const longestMs = 5_000;

/**
 * Returns the delay before a retry, in ms: it doubles after each failure.
 *
 * The caller draws `jitter` from [0, 1). It prevents all workers of a farm from reconnecting at the same moment when
 * the server is back.
 */
export function backoffMs(failures: number, jitter: number): number {
  const full = Math.min(longestMs, firstMs * 2 ** (failures - 1));
  return Math.round(full * (0.5 + jitter / 2));
}

const firstRestMs = 1_000;
const longestRestMs = 30_000;

/**
 * Returns how long a worker pauses after consecutive executions that failed because of its machine, in ms.
 *
 * A full disk or an unreachable store does not recover within a millisecond; without the pause, all attempts of an
 * execution would be used up within a second.
 */
export function machineRestMs(failures: number, jitter: number): number {
  const full = Math.min(longestRestMs, firstRestMs * 2 ** (failures - 1));
  return Math.round(full * (0.5 + jitter / 2));
}
