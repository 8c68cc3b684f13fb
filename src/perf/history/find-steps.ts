import { changePoints } from "#statistics/change-points.ts";

/** A step of a series: its first value, and the means on both sides. */
export interface FoundStep {
  readonly index: number;
  readonly p: number;
  readonly meanBefore: number;
  readonly meanAfter: number;
}

/**
 * Otava's defaults. A single value between two steps, or after the last, is an outlier until a second one confirms it:
 * its steps wait. Each step is significant at p < 0.001 between its neighbours.
 */
const options = { window: 50, p: 0.001, leastSegment: 2, onlyWhatHolds: true };

/** Returns the steps of a series that are at least a limit. */
export function findSteps(values: readonly number[], limit: number): FoundStep[] {
  if (values.length < 4 || spreadOf(values) < limit) return [];
  return changePoints(withoutLoneOutliers(values, limit), { ...options, magnitude: limit });
}

/**
 * A value counts as an outlier if its distance is this many times the range of the neighbouring figures, and this many
 * times the limit.
 */
const farAway = 5;

/**
 * Replaces single outliers, because one wrong figure hides every smaller step in fifty figures from Student's test. A
 * value that is far from the two before and the two after it, while those agree, is moved to them. A step is not an
 * outlier, because the values after it agree with it.
 */
function withoutLoneOutliers(values: readonly number[], limit: number): readonly number[] {
  const drawnIn = [...values];
  for (let i = 2; i < values.length - 2; i++) {
    const value = values[i] as number;
    const [a, b] = [values[i - 2] as number, values[i - 1] as number];
    const [c, d] = [values[i + 1] as number, values[i + 2] as number];
    const most = Math.max(a, b, c, d);
    const least = Math.min(a, b, c, d);
    const reach = farAway * Math.max(most - least, limit * Math.abs(most));
    if (value > most + reach) drawnIn[i] = most;
    else if (value < least - reach) drawnIn[i] = least;
  }
  return drawnIn;
}

/** No step can be larger than the whole range. Most series of a day are finished here. */
function spreadOf(values: readonly number[]): number {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  if (least === most) return 0;
  const base = Math.min(Math.abs(least), Math.abs(most));
  return base === 0 ? Number.POSITIVE_INFINITY : (most - least) / base;
}

/** A step that was known before, by the position of its first artifact. */
interface KnownStep {
  readonly place: number;
  readonly standing: "found" | "accepted" | "dismissed";
}

/** With more figures a step may be found one or two artifacts later; it is the same one. */
const sameWithin = 2;

/**
 * Returns the changes of a series' known steps after a part of it was examined again.
 *
 * `places` are the positions of the values' artifacts; steps before `from` are not judged again, because the values
 * before the window are not loaded. Steps with a person's statement stay, and replace steps that are found next to
 * them.
 */
export function settleSteps(
  found: readonly FoundStep[],
  places: readonly number[],
  known: readonly KnownStep[],
  from: number,
): { readonly keep: readonly FoundStep[]; readonly forget: readonly number[] } {
  if (found.length === 0 && known.length === 0) return { keep: [], forget: [] };
  const indexOf = new Map(places.map((place, index) => [place, index]));
  const said = known.flatMap(({ place, standing }) => {
    const index = indexOf.get(place);
    return standing === "found" || index === undefined ? [] : [index];
  });
  const keep = found.filter(
    ({ index }) => index >= from && !said.some((other) => Math.abs(other - index) <= sameWithin),
  );
  const kept = new Set(keep.map(({ index }) => places[index]));
  const forget = known.flatMap(({ place, standing }) => {
    const index = indexOf.get(place);
    if (standing !== "found" || index === undefined || index < from) return [];
    return kept.has(place) ? [] : [place];
  });
  return { keep, forget };
}
