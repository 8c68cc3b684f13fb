/** Two samples thrown together, by equal values. */
interface RankGroups {
  /** How many values are equal to each other, the least value first. */
  readonly sizes: readonly number[];
  /** Pairs in which the first sample's value is the greater, ties counting half. */
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
    // NaN is no value of anything that was measured; it must not make this loop endless.
    if (ofLeft + ofRight === 0) break;
    u += ofLeft * (smallerRight + ofRight / 2);
    sizes.push(ofLeft + ofRight);
  }
  return { sizes, u };
}

/** Where each value stands among all, from the middle; equal ones share the mean of their places. */
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
