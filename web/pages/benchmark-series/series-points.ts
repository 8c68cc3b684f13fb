import type { Series } from "#api/benchmark-history.ts";

export type Point = Series["points"][number];

/** Returns points from one artifact to another, both included; a missing end does not limit the range. */
export function pointsWithin(
  points: readonly Point[],
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
): readonly Point[] {
  const first = points.findIndex(({ artifact }) => artifact === from);
  const last = points.findLastIndex(({ artifact }) => artifact === to);
  return points.slice(Math.max(0, first), last === -1 ? undefined : last + 1);
}

/** Returns the artifact that was measured before the n-th point, if it is a different one. */
export function artifactBefore(points: readonly Point[], n: number): string | undefined {
  const own = points[n]?.artifact;
  return points.slice(0, n).findLast(({ artifact }) => artifact !== own)?.artifact;
}

/**
 * Returns the indexes at which the machine or its software differs from the point before: figures across such a change
 * are not compared.
 */
export function machineChanges(points: readonly Point[]): number[] {
  return points.flatMap(({ fingerprint }, n) =>
    n > 0 && points[n - 1]?.fingerprint !== fingerprint ? [n] : [],
  );
}

/** Returns ranges of points of one machine, for continuous lines. */
export function linesOf(points: readonly Point[]): (readonly number[])[] {
  const ends = [0, ...machineChanges(points), points.length];
  return ends
    .slice(1)
    .map((end, n) => {
      const begin = ends[n] ?? 0;
      return Array.from({ length: end - begin }, (_, k) => begin + k);
    })
    .filter((line) => line.length > 0);
}
