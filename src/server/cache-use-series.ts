import type { CacheUseKind, CacheUseSeries } from "#api/cache-use.ts";

/** The requests of one kind and name in the period that begins at `at`. */
interface UseOfPeriod {
  readonly kind: CacheUseKind;
  readonly name: string;
  readonly at: Date;
  readonly hits: number;
  readonly misses: number;
}

/** Returns the series of each kind and name, those with most requests first. Each period may occur once in each. */
export function cacheUseSeries(counted: readonly UseOfPeriod[], most: number): CacheUseSeries[] {
  const series = new Map<string, CacheUseSeries>();
  for (const { kind, name, at, hits, misses } of counted) {
    const key = `${kind} ${name}`;
    const known = series.get(key) ?? { kind, name, hits: 0, misses: 0, periods: [] };
    series.set(key, {
      ...known,
      hits: known.hits + hits,
      misses: known.misses + misses,
      periods: [...known.periods, { at: at.toISOString(), hits, misses }],
    });
  }
  return [...series.values()]
    .toSorted((a, b) => b.hits + b.misses - a.hits - a.misses)
    .slice(0, most)
    .map((each) => ({
      ...each,
      periods: each.periods.toSorted((a, b) => (a.at < b.at ? -1 : 1)),
    }));
}
