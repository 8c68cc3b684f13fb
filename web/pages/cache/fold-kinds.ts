import type { CacheUseAnswer, CacheUseKind } from "#api/cache-use.ts";

export interface UseOfKind {
  readonly kind: CacheUseKind;
  readonly hits: number;
  readonly misses: number;
  /** One for each period from the first to the last one, also for those without requests. */
  readonly periods: readonly {
    readonly at: string;
    readonly hits: number;
    readonly misses: number;
  }[];
}

/** Sums the series by kind, those with most requests first. `name`: only this project or repository. */
export function foldKinds(
  { series, since, until, periodMs }: CacheUseAnswer,
  name?: string,
): UseOfKind[] {
  const shown = series.filter((each) => name === undefined || each.name === name);
  const kinds = [...new Set(shown.map(({ kind }) => kind))];
  const first = Date.parse(since);
  const count = Math.floor((Date.parse(until) - first) / periodMs) + 1;
  const times = Array.from({ length: count }, (_, n) =>
    new Date(first + n * periodMs).toISOString(),
  );
  const folded = kinds.map((kind) => {
    const sums = new Map(times.map((at) => [at, { at, hits: 0, misses: 0 }]));
    const ofKind = shown.filter((each) => each.kind === kind);
    for (const { at, hits, misses } of ofKind.flatMap(({ periods }) => periods)) {
      const sum = sums.get(at);
      if (sum !== undefined)
        sums.set(at, { at, hits: sum.hits + hits, misses: sum.misses + misses });
    }
    return {
      kind,
      hits: ofKind.reduce((sum, { hits }) => sum + hits, 0),
      misses: ofKind.reduce((sum, { misses }) => sum + misses, 0),
      periods: [...sums.values()],
    };
  });
  return folded.toSorted((a, b) => b.hits + b.misses - a.hits - a.misses);
}
