import type { SeriesGrid } from "#api/benchmark-history.ts";

export type GridSeries = SeriesGrid["series"][number];

export const graphKinds = ["raw", "percent-from-first", "percent-from-previous"] as const;
export type GraphKind = (typeof graphKinds)[number];

/** A point on a line. `isGuessed`: it was not measured, and has the value of the previous point. */
export interface Spot {
  readonly n: number;
  readonly value: number;
  readonly isGuessed: boolean;
}

/**
 * Returns a line through the measured points; inner gaps are bridged at the last known value, and the ends stay open.
 */
export function spotsOf(values: readonly (number | null)[]): Spot[] {
  const first = values.findIndex((value) => value !== null);
  const last = values.findLastIndex((value) => value !== null);
  if (first === -1) return [];
  let known = 0;
  return values.slice(first, last + 1).map((value, k) => {
    if (value !== null) known = value;
    return { n: first + k, value: known, isGuessed: value === null };
  });
}

/** Returns the line in the requested form; without a base value (a first value of 0), it is left out. */
export function shownAs(kind: GraphKind, spots: readonly Spot[]): Spot[] {
  if (kind === "raw") return [...spots];
  return spots.flatMap((spot, k) => {
    const base = kind === "percent-from-first" ? spots[0] : (spots[k - 1] ?? spot);
    if (base === undefined || base.value === 0) return [];
    return [{ ...spot, value: (spot.value / base.value - 1) * 100 }];
  });
}

export interface ChartGroup {
  readonly key: string;
  readonly series: readonly GridSeries[];
}

/** Returns one chart for each combination of benchmark, profile and backend; its scenarios are lines. */
export function chartsOf(series: readonly GridSeries[]): ChartGroup[] {
  const groups = new Map<string, GridSeries[]>();
  for (const each of series) {
    const { section, benchmark, profile, backend, target } = each.case;
    const key = [benchmark, section, profile, backend, target].join(" ");
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  return [...groups]
    .map(([key, own]) => ({ key, series: own }))
    .toSorted((a, b) => a.key.localeCompare(b.key));
}
