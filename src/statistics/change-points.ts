import { EnergyDistances } from "./energy-split.ts";
import { studentTwoSided } from "./student-t.ts";

interface ChangePoint {
  /** The index of the first value after the step. */
  readonly index: number;
  readonly p: number;
  readonly meanBefore: number;
  readonly meanAfter: number;
}

interface ChangePointOptions {
  /** The number of values that are examined together; windows overlap by half. */
  readonly window?: number;
  readonly p?: number;
  /** The least relative change, as a fraction. */
  readonly magnitude?: number;
  /**
   * A step needs this many values on either side, because one value may be an outlier. 1: as in Otava, whose
   * maintainers say that the first point of their own picture is an outlier.
   */
  readonly leastSegment?: number;
  /**
   * When true, all points are tested again between the remaining neighbours at the end, and the weakest is removed
   * until all are significant. Otava does not do this, and so reports points whose final p is up to a third.
   */
  readonly onlyWhatHolds?: boolean;
}

/**
 * Finds steps in a series, with the method of Apache Otava (formerly Hunter, doi 10.1145/3578244.3583719).
 *
 * Windows are split at the points of E-divisive, as long as Student's test finds a difference between both sides at ten
 * times `p`. Of these weak points, those that are not significant at `p` between their neighbours, or are too small,
 * are removed again, the weakest first.
 */
export function changePoints(
  values: readonly number[],
  options: ChangePointOptions = {},
): ChangePoint[] {
  const {
    window = 50,
    p = 0.001,
    magnitude = 0,
    leastSegment = 2,
    onlyWhatHolds = false,
  } = options;
  // `weak` as in Otava's `compute_change_points`.
  const weakP = p < 0.05 ? p * 10 : p < 0.5 ? p * 2 : p;
  const points = merged(weakPoints(values, window, weakP), values, p, magnitude);
  for (;;) {
    const tooEarly = besideShortSegment(points, values.length, leastSegment);
    if (tooEarly === undefined)
      return onlyWhatHolds ? whatHolds(points, values, p, magnitude) : refreshed(points, values);
    remove(points, tooEarly, values);
    merged(points, values, p, magnitude);
  }
}

function weakPoints(values: readonly number[], window: number, p: number): ChangePoint[] {
  const indices = new Set<number>();
  const step = Math.floor(window / 2);
  for (let start = 0; start < values.length; ) {
    const found = splitWindow(values.slice(start, start + window), p);
    for (const index of found) indices.add(start + index);
    const last = found.at(-1);
    start = Math.max(last === undefined ? 0 : start + last, start + step);
  }
  const bounds = [0, ...[...indices].toSorted((a, b) => a - b), values.length];
  return bounds
    .slice(1, -1)
    .map((index, i) => judged(values, bounds[i] ?? 0, index, bounds[i + 2] ?? 0));
}

/** Returns the indices at which a window is split, in ascending order. */
function splitWindow(values: readonly number[], p: number): number[] {
  const distances = new EnergyDistances(values);
  const split = (start: number, end: number) => ({ start, end, ...distances.best(start, end) });
  let stretches = values.length > 1 ? [split(0, values.length)] : [];
  const found: number[] = [];
  for (;;) {
    // The first of equal ones, like Python's `max`.
    const best = stretches.reduce<(typeof stretches)[number] | undefined>(
      (most, each) => (most === undefined || each.q > most.q ? each : most),
      undefined,
    );
    if (best === undefined) break;
    if (judged(values, best.start, best.index, best.end).p > p) break;
    found.push(best.index);
    stretches = stretches.flatMap((each) =>
      each === best
        ? [
            { start: best.start, end: best.index },
            { start: best.index, end: best.end },
          ]
            .filter(({ start, end }) => end - start > 1)
            .map(({ start, end }) => split(start, end))
        : [each],
    );
  }
  return found.toSorted((a, b) => a - b);
}

/** Removes insignificant points, in place. */
function merged(
  points: ChangePoint[],
  values: readonly number[],
  p: number,
  magnitude: number,
): ChangePoint[] {
  while (points.length > 0) {
    const weakest = indexOfMost(points, (point) => point.p);
    if ((points[weakest]?.p ?? 1) < p) {
      const smallest = indexOfMost(points, (point) => -sizeOf(point));
      const point = points[smallest];
      if (point === undefined || sizeOf(point) > magnitude) return points;
      remove(points, smallest, values);
    } else remove(points, weakest, values);
  }
  return points;
}

/**
 * The points after the removed one then have other values before them. The same is true for the points before it, but
 * Otava does not test those again. Testing them gives other points: with Otava's method, ten of ten of its published
 * series match; with the other, five.
 */
function remove(points: ChangePoint[], at: number, values: readonly number[]): void {
  points.splice(at, 1);
  for (const i of [at, at + 1]) {
    const point = points[i];
    if (point === undefined) continue;
    const start = points[i - 1]?.index ?? 0;
    points[i] = judged(values, start, point.index, points[i + 1]?.index ?? values.length);
  }
}

/** Recomputes the figures of the points from the remaining segments. */
function refreshed(points: readonly ChangePoint[], values: readonly number[]): ChangePoint[] {
  return points.map(({ index }, i) =>
    judged(values, points[i - 1]?.index ?? 0, index, points[i + 1]?.index ?? values.length),
  );
}

/** Returns the points that are significant between the remaining neighbours; the weakest point is removed first. */
function whatHolds(
  points: readonly ChangePoint[],
  values: readonly number[],
  p: number,
  magnitude: number,
): ChangePoint[] {
  let left = refreshed(points, values);
  for (;;) {
    const failing = left.filter((each) => !(each.p < p) || !(sizeOf(each) > magnitude));
    const weakest = failing[indexOfMost(failing, (each) => each.p)];
    if (weakest === undefined) return left;
    left = refreshed(
      left.filter((each) => each !== weakest),
      values,
    );
  }
}

/** Returns the weaker point next to a segment that is too short. */
function besideShortSegment(
  points: readonly ChangePoint[],
  length: number,
  least: number,
): number | undefined {
  for (let i = 0; i <= points.length && points.length > 0; i++) {
    const start = points[i - 1]?.index ?? 0;
    const end = points[i]?.index ?? length;
    if (end - start >= least) continue;
    const before = points[i - 1];
    const after = points[i];
    if (before === undefined) return i;
    if (after === undefined) return i - 1;
    return after.p > before.p ? i : i - 1;
  }
  return undefined;
}

function judged(values: readonly number[], start: number, index: number, end: number): ChangePoint {
  const left = momentsOf(values, start, index);
  const right = momentsOf(values, index, end);
  const n = index - start;
  const m = end - index;
  const degrees = n + m - 2;
  let p = 1;
  // Means of equal numbers may differ in their last digit, while their variance is zero.
  const apart = Math.abs(left.mean - right.mean);
  if (degrees > 0 && apart > 1e-12 * Math.max(Math.abs(left.mean), Math.abs(right.mean))) {
    // This test uses the population's variance, although it is made for the sample's variance: Otava does this, and
    // otherwise the points differ.
    const pooled = ((n - 1) * left.variance + (m - 1) * right.variance) / degrees;
    p = studentTwoSided(apart / Math.sqrt(pooled * (1 / n + 1 / m)), degrees);
  }
  return { index, p, meanBefore: left.mean, meanAfter: right.mean };
}

function momentsOf(
  values: readonly number[],
  start: number,
  end: number,
): { mean: number; variance: number } {
  let sum = 0;
  for (let i = start; i < end; i++) sum += values[i] ?? 0;
  const mean = sum / (end - start);
  let squares = 0;
  for (let i = start; i < end; i++) squares += ((values[i] ?? 0) - mean) ** 2;
  const variance = squares / (end - start);
  // Rounding errors of equal numbers are not variance; a p-value must not depend on them.
  return { mean, variance: variance < (1e-12 * mean) ** 2 ? 0 : variance };
}

/** Returns the larger of the changes in both directions. */
function sizeOf({ meanBefore, meanAfter }: ChangePoint): number {
  const there = meanBefore === 0 ? 0 : Math.abs(meanAfter / meanBefore - 1);
  const back = meanAfter === 0 ? 0 : Math.abs(meanBefore / meanAfter - 1);
  return Math.max(there, back);
}

/** Returns the index of the largest item; the first of equal ones. */
function indexOfMost<T>(items: readonly T[], measure: (item: T) => number): number {
  let best = 0;
  let most = Number.NEGATIVE_INFINITY;
  items.forEach((item, i) => {
    const size = measure(item);
    if (size > most) {
      most = size;
      best = i;
    }
  });
  return best;
}
