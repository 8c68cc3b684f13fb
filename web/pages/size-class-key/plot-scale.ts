/** An axis: the position of a value, from 0 to 1, and the positions of its labels. */
export interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Times that are easy to read; the factor between two of them is 2 to 3.3. */
const roundTimes = [
  1,
  3,
  10,
  30,
  100,
  300,
  ...[1, 3, 10, 30].map((n) => n * second),
  ...[1, 3, 10, 30].map((n) => n * minute),
  ...[1, 3, 10, 24, 72, 240].map((n) => n * hour),
];
/** More labels than this would overlap. */
const mostTicks = 5;

/** Returns a log axis for times in ms: from a round time below all of them to one above. */
export function timeScale(values: readonly number[]): Scale {
  const shown = values.map((value) => Math.max(value, 1));
  const least = Math.min(...shown, Number.MAX_VALUE);
  const most = Math.max(...shown, 1);
  const low = roundTimes.findLast((time) => time <= least) ?? 1;
  const high = roundTimes.find((time) => time >= most && time > low) ?? Math.max(most, low * 2);
  const within = roundTimes.filter((time) => time >= low && time <= high);
  const every = Math.ceil(within.length / mostTicks);
  return {
    at: (value) => clamped(Math.log(Math.max(value, 1) / low) / Math.log(high / low)),
    ticks: within.filter((_, n) => n % every === 0),
  };
}

/** Returns a linear axis for bytes, from 0. */
export function bytesScale(values: readonly number[]): Scale {
  const most = Math.max(...values, 1);
  const unit = 10 ** Math.floor(Math.log10(most));
  const step = [1, 2, 5, 10].map((n) => (n * unit) / 2).find((each) => most / each <= 3) ?? unit;
  const high = Math.ceil(most / step) * step;
  return {
    at: (value) => clamped(value / high),
    ticks: Array.from({ length: Math.round(high / step) + 1 }, (_, n) => n * step),
  };
}

function clamped(part: number): number {
  return Math.min(1, Math.max(0, part));
}
