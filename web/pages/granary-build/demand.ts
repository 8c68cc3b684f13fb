import type { RequestedResult, ResultSource } from "#api/granary.ts";

export interface Slice {
  readonly fromMs: number;
  readonly toMs: number;
  /** The requests in it, by their source. */
  readonly asked: Readonly<Record<ResultSource, number>>;
  /** Until its end: the requested results, and how many of them had arrived. */
  readonly demanded: number;
  readonly arrived: number;
}

/** Returns when a result from the farm arrived, from the build's start; null for all others. */
export function arrivalOf({ source, atMs, leadMs, waitedMs }: RequestedResult): number | null {
  if (source === "prefetched") return Math.max(0, atMs - (leadMs ?? 0));
  return source === "fetched" ? atMs + waitedMs : null;
}

/**
 * A build's time in slices.
 *
 * Demand and arrival are for results from the farm: when more are requested than have arrived, the build waited; when
 * more have arrived, the transfer was ahead.
 */
export function slicesOf(
  asked: readonly RequestedResult[],
  lengthMs: number,
  count: number,
): readonly Slice[] {
  const ends = asked.map(({ atMs }) => atMs);
  const whole = Math.max(1, lengthMs, maxOf(ends));
  const sliceMs = whole / count;
  const at = (ms: number) => Math.min(count - 1, Math.max(0, Math.floor(ms / sliceMs)));
  const slices = Array.from({ length: count }, (_, n) => ({
    fromMs: n * sliceMs,
    toMs: (n + 1) * sliceMs,
    asked: { local: 0, prefetched: 0, fetched: 0, missed: 0, unreachable: 0 },
    demanded: 0,
    arrived: 0,
  }));
  for (const result of asked) {
    const slice = slices[at(result.atMs)];
    if (slice === undefined) continue;
    slice.asked[result.source]++;
    const arrival = arrivalOf(result);
    if (arrival === null) continue;
    slice.demanded++;
    const there = slices[at(arrival)];
    if (there !== undefined) there.arrived++;
  }
  for (let n = 1; n < count; n++) {
    const [before, slice] = [slices[n - 1], slices[n]];
    if (before === undefined || slice === undefined) continue;
    slice.demanded += before.demanded;
    slice.arrived += before.arrived;
  }
  return slices;
}

/** Without spreading thousands of arguments. */
function maxOf(numbers: readonly number[]): number {
  return numbers.reduce((most, number) => Math.max(most, number), 0);
}
