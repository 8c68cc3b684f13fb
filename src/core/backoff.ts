const firstMs = 100;
const longestMs = 5_000;

/**
 * How long to wait before a call is tried again: twice as long after each failure.
 *
 * `jitter` in [0, 1) is drawn by the caller. It keeps the workers of a farm from
 * coming back all at once when the server does.
 */
export function backoffMs(failures: number, jitter: number): number {
  const full = Math.min(longestMs, firstMs * 2 ** (failures - 1));
  return Math.round(full * (0.5 + jitter / 2));
}

const firstRestMs = 1_000;
const longestRestMs = 30_000;

/**
 * How long a worker rests after executions that its machine made fail, one after the other.
 *
 * A full disk or a store that is away is not better a millisecond later; without the
 * rest, all attempts of an execution would be used up within a second.
 */
export function machineRestMs(failures: number, jitter: number): number {
  const full = Math.min(longestRestMs, firstRestMs * 2 ** (failures - 1));
  return Math.round(full * (0.5 + jitter / 2));
}
