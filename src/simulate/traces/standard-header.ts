import { type Pool, type TraceHeader, traceFormat } from "../trace.ts";

const GiB = 2 ** 30;

/** The original design's classes: memory and price in proportion to CPUs. */
export function standardHeader(
  name: string,
  changes: Partial<TraceHeader> = {},
  pool: Pool = { kind: "elastic", most: 400, startDelayMs: 30_000, idleMs: 60_000 },
): TraceHeader {
  return {
    format: traceFormat,
    name,
    classes: [1, 2, 4, 8].map((sizeClass) => ({
      sizeClass,
      cpus: sizeClass,
      memoryBytes: sizeClass * 4 * GiB,
      price: sizeClass,
      pool,
    })),
    order: "longest-first",
    // About 25 minutes represent a week, in which an action runs about five times a day.
    calendarRate: 400,
    lostRate: 0,
    infrastructureRate: 0,
    hiddenOutOfMemoryRate: 0.2,
    ...changes,
  };
}
