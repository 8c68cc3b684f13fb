const firstMs = 250;
const longestMs = 10_000;

/**
 * How long to wait before the next try: doubling, at most ten seconds.
 *
 * `random` (0 to 1) spreads the pages out: a server that comes back meets all of them at once.
 */
export function reconnectDelayMs(failures: number, random: number): number {
  const full = Math.min(longestMs, firstMs * 2 ** (failures - 1));
  return Math.round(full * (0.5 + random / 2));
}
