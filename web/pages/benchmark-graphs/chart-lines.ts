import type { SeriesGrid } from "#api/benchmark-history.ts";

export type GridSeries = SeriesGrid["series"][number];

export const graphKinds = ["raw", "percent-from-first", "percent-from-previous"] as const;
export type GraphKind = (typeof graphKinds)[number];

/** A place on a line. `isGuessed`: nobody measured it, and it stands where the last one stood. */
export interface Spot {
  readonly n: number;
  readonly value: number;
  readonly isGuessed: boolean;
}

/** A line through what was measured; gaps within it are bridged at the last known value, its ends are left open. */
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

/** The same line in what is asked for; what there is no part of (a first of 0) is left out. */
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

/** One chart for each benchmark as one profile of one backend; its scenarios are lines of it. */
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
