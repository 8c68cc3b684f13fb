/** An axis: its minimum and maximum, and the positions of its labels. */
interface Axis {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly number[];
}

/** Returns a linear axis with about this many labels at round figures, which contains all values with a margin. */
export function linearAxis(values: readonly number[], labels = 4): Axis {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  // Not Math.min(...values): a series may have more values than a call takes arguments.
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  if (least > most) return { low: 0, high: 1, ticks: [0, 1] };
  // A flat line is in the middle, and changes of a few parts in a thousand still look flat.
  const span = Math.max(most - least, Math.abs(most) * 0.004, 1e-12);
  const middle = (least + most) / 2;
  const low = middle - span * 0.55;
  const high = middle + span * 0.55;
  const step = roundStep((high - low) / labels);
  const first = Math.ceil(low / step);
  const count = Math.max(0, Math.floor(high / step) - first + 1);
  return { low, high, ticks: Array.from({ length: count }, (_, n) => (first + n) * step) };
}

function roundStep(least: number): number {
  const unit = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5, 10].find((n) => n * unit >= least) ?? 10) * unit;
}

/** Returns the position of the n-th of several points across a width. */
export function placeOf(n: number, count: number, left: number, right: number): number {
  return count < 2 ? (left + right) / 2 : left + (n / (count - 1)) * (right - left);
}

/** Returns the index of the point nearest to a position. */
export function nearest(x: number, count: number, left: number, right: number): number {
  if (count < 2) return 0;
  const n = Math.round(((x - left) / (right - left)) * (count - 1));
  return Math.max(0, Math.min(count - 1, n));
}
