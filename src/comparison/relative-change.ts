/** (after - before) / before; nothing from nothing is no change, and something from nothing has no number. */
export function relativeChange(before: number, after: number): number | null {
  if (before === after) return 0;
  if (before === 0) return null;
  const change = (after - before) / Math.abs(before);
  return Number.isFinite(change) ? change : null;
}
