import { median } from "./quartiles.ts";

/** Returns the median of all differences between a value of `a` and a value of `b`: how much larger `a` is than `b`. */
export function hodgesLehmannShift(a: readonly number[], b: readonly number[]): number {
  return median(a.flatMap((x) => b.map((y) => x - y)));
}

/**
 * Means of two values (also of a value with itself) in ascending order, and the values from which they are computed.
 */
interface WalshAverages {
  readonly count: number;
  readonly values: Float64Array;
  /** The index of each value; for the mean of a value with itself, the count is added to both. */
  readonly first: Uint16Array;
  readonly second: Uint16Array;
}

export function walshAverages(values: readonly number[]): WalshAverages {
  const all: { value: number; i: number; j: number }[] = [];
  const count = values.length;
  values.forEach((x, i) => {
    all.push({ value: x, i: i + count, j: i + count });
    for (let j = i + 1; j < count; j++) all.push({ value: x / 2 + (values[j] ?? x) / 2, i, j });
  });
  all.sort((one, other) => one.value - other.value);
  return {
    count,
    values: Float64Array.from(all, ({ value }) => value),
    first: Uint16Array.from(all, ({ i }) => i),
    second: Uint16Array.from(all, ({ j }) => j),
  };
}

/**
 * Returns Hodges' and Lehmann's estimate of the location of a sample: the median of its Walsh averages. Nearly as
 * precise as the mean for normal data, and insensitive to a few delayed processes.
 */
export function pseudoMedian(averages: WalshAverages): number {
  const once = new Uint16Array(averages.count).fill(1);
  return resampledPseudoMedian(averages)(once, 0);
}

/**
 * Returns the same for a sample that contains each value as often as `times` states from `offset` on. The total count
 * is the number of values. The averages do not have to be sorted again.
 *
 * A value drawn w times has w·(w + 1)/2 averages with itself, and w·v with a value drawn v times. Doubled, both are a
 * product of two table entries, so the loop needs no branch. This makes it three times as fast, and a comparison runs
 * it a million times.
 */
export function resampledPseudoMedian(
  averages: WalshAverages,
): (times: Uint16Array, offset: number) => number {
  const { count, values, first, second } = averages;
  const left = new Int32Array(2 * count);
  const right = new Int32Array(2 * count);
  const averagesInAll = (count * (count + 1)) / 2;
  const lower = 2 * ((averagesInAll - 1) >> 1);
  const upper = 2 * (averagesInAll >> 1);
  return (times, offset) => {
    for (let i = 0; i < count; i++) {
      const taken = times[offset + i] as number;
      left[i] = 2 * taken;
      left[i + count] = taken;
      right[i] = taken;
      right[i + count] = taken + 1;
    }
    let passed = 0;
    let k = 0;
    while (passed <= lower && k < values.length) {
      passed += (left[first[k] as number] as number) * (right[second[k] as number] as number);
      k++;
    }
    const low = values[k - 1] ?? Number.NaN;
    while (passed <= upper && k < values.length) {
      passed += (left[first[k] as number] as number) * (right[second[k] as number] as number);
      k++;
    }
    return low / 2 + (values[k - 1] ?? low) / 2;
  };
}
