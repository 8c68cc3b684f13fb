import { normalUpperTail } from "./normal-tail.ts";
import { quantileOfSorted } from "./quartiles.ts";
import { seededRandom } from "./seeded-random.ts";
import { studentQuantile } from "./student-t.ts";

export interface Interval {
  readonly low: number;
  readonly high: number;
}

interface BootstrapOptions {
  readonly seed: number | string;
  /** The level of the interval, e.g. 0.99. */
  readonly level: number;
  /** With fewer than 2,000 the ends of a 99 % interval are mostly random. */
  readonly resamples?: number;
}

/**
 * Returns the confidence interval of a statistic: units (whole processes, whole pairs) are drawn with replacement, and
 * the statistic of each draw is computed. The statistic gets the counts of the draw: unit u was drawn `times[offset +
 * u]` times.
 *
 * Percentiles of few units are too narrow; they are expanded as in Hesterberg (2015, "What Teachers Should Know About
 * the Bootstrap"), so that the interval of a mean is as wide as Student's.
 */
export function bootstrapInterval(
  units: number,
  statistic: (times: Uint16Array, offset: number) => number,
  options: BootstrapOptions,
): Interval {
  const found = new Float64Array(options.resamples ?? 2_000);
  const times = drawnTimes(units, found.length, options.seed);
  for (let r = 0; r < found.length; r++) found[r] = statistic(times, r * units);
  found.sort();
  const tail = expandedTail(units, options.level);
  return { low: quantileOfSorted(found, tail), high: quantileOfSorted(found, 1 - tail) };
}

const draws = new Map<string, Uint16Array>();

/** The counts of each draw: a row of `units` numbers for each draw. Callers must not change it. */
export function drawnTimes(units: number, resamples: number, seed: number | string): Uint16Array {
  // A comparison uses the same draws for each of its cases.
  const key = `${units} ${resamples} ${seed}`;
  const known = draws.get(key);
  if (known !== undefined) return known;
  const random = seededRandom(seed);
  const times = new Uint16Array(units * resamples);
  for (let row = 0; row < times.length; row += units) {
    for (let k = 0; k < units; k++) {
      const unit = row + Math.floor(random() * units);
      times[unit] = (times[unit] ?? 0) + 1;
    }
  }
  if (draws.size >= 30) draws.clear();
  draws.set(key, times);
  return times;
}

const tails = new Map<string, number>();

export function expandedTail(units: number, level: number): number {
  if (units < 2) return 0;
  const key = `${units} ${level}`;
  const known = tails.get(key);
  if (known !== undefined) return known;
  const tail = normalUpperTail(
    Math.sqrt(units / (units - 1)) * studentQuantile(1 - level, units - 1),
  );
  if (tails.size < 1_000) tails.set(key, tail);
  return tail;
}
