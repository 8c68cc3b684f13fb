/**
 * From 1 (very small) to 5 (very large), as rustc-perf counts: the mean, rounded down, of the change relative to its
 * threshold and the absolute size of the change. 0: no change.
 *
 * `change`: null when the earlier value is 0. `halved`: absolute limits are doubled for all figures except
 * instructions, which vary less.
 */
export function magnitudeOf(change: number | null, threshold: number, halved: boolean): number {
  if (change === null) return 5;
  const size = Math.abs(change);
  if (size === 0) return 0;
  if (size < 0.000_1) return 1;
  const over = rung(
    size,
    [1.5, 3, 6, 12].map((factor) => factor * threshold),
  );
  const absolute = rung(halved ? size / 2 : size, [0.002, 0.01, 0.02, 0.05]);
  return Math.floor((over + absolute) / 2);
}

function rung(size: number, limits: readonly number[]): number {
  const below = limits.findIndex((limit) => size < limit);
  return below === -1 ? limits.length + 1 : below + 1;
}

/** rustc-perf's names. */
const small = 2;
export const medium = 3;
export const large = 4;

/** Shown by default: significant and at least small. */
export function isRelevant(significant: boolean, magnitude: number): boolean {
  return significant && magnitude >= small;
}
