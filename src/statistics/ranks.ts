/** Two pooled samples, grouped by equal values. */
interface RankGroups {
  /** The sizes of the groups of equal values, in ascending order of the values. */
  readonly sizes: readonly number[];
  /** The number of pairs in which the first sample's value is larger; ties count half. */
  readonly u: number;
}

export function rankGroups(a: readonly number[], b: readonly number[]): RankGroups {
  const left = Float64Array.from(a).toSorted();
  const right = Float64Array.from(b).toSorted();
  const sizes: number[] = [];
  let u = 0;
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    const value = Math.min(
      left[i] ?? Number.POSITIVE_INFINITY,
      right[j] ?? Number.POSITIVE_INFINITY,
    );
    const smallerRight = j;
    let ofLeft = 0;
    while (left[i] === value) {
      ofLeft++;
      i++;
    }
    while (right[j] === value) j++;
    const ofRight = j - smallerRight;
    // No measurement gives NaN, but it must not make this loop endless.
    if (ofLeft + ofRight === 0) break;
    u += ofLeft * (smallerRight + ofRight / 2);
    sizes.push(ofLeft + ofRight);
  }
  return { sizes, u };
}

/** Returns the rank of each value relative to the middle; equal values share the mean of their ranks. */
export function centredRanks(values: readonly number[]): Float64Array {
  const order = values.map((_, i) => i).toSorted((i, j) => (values[i] ?? 0) - (values[j] ?? 0));
  const ranks = new Float64Array(values.length);
  for (let begin = 0; begin < order.length; ) {
    const value = values[order[begin] ?? 0];
    let end = begin + 1;
    while (end < order.length && values[order[end] ?? 0] === value) end++;
    const rank = (begin + end - 1) / 2 - (values.length - 1) / 2;
    for (const index of order.slice(begin, end)) ranks[index] = rank;
    begin = end;
  }
  return ranks;
}
