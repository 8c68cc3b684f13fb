const firstMs = 250;
const longestMs = 10_000;

/**
 * Returns the pause before the next attempt: it doubles, up to ten seconds.
 *
 * `random` (0 to 1) distributes the pages over time, because a restarted server gets requests of all of them at once.
 */
export function reconnectDelayMs(failures: number, random: number): number {
  const full = Math.min(longestMs, firstMs * 2 ** (failures - 1));
  return Math.round(full * (0.5 + random / 2));
}
