/** Returns (after - before) / before; 0 when both are 0, null when only `before` is 0. */
export function relativeChange(before: number, after: number): number | null {
  if (before === after) return 0;
  if (before === 0) return null;
  const change = (after - before) / Math.abs(before);
  return Number.isFinite(change) ? change : null;
}
