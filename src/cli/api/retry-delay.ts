/**
 * Returns how long to wait before the next attempt, in ms.
 *
 * Doubles from 100 ms to 5 s: a restarting server is back within a second, and one that stays down gets few requests.
 * `spread` from 0 to 1 prevents many clients from reconnecting at the same time.
 */
export function retryDelayMs(failures: number, spread: number): number {
  const base = Math.min(5_000, 100 * 2 ** Math.max(0, failures - 1));
  return base * (0.5 + spread / 2);
}
