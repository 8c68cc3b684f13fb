import type { Level } from "../key.ts";
import type { KeyHistory } from "../key-history.ts";
import type { PastRun } from "../past-run.ts";
import type { OfferedClass, Situation } from "../strategy.ts";

export const GiB = 2 ** 30;
const hour = 3_600_000;

/** The work of an action: by Amdahl's law, as in the standard traces. */
export interface Work {
  readonly serialMs: number;
  readonly parallelMs?: number;
  readonly width?: number;
  readonly peakMemoryBytes?: number;
}

export function durationOn({ serialMs, parallelMs = 0, width = 1 }: Work, cpus: number): number {
  return serialMs + parallelMs / Math.min(cpus, width);
}

/** Returns a successful run, the `number`th of its key. */
export function ran(work: Work, sizeClass: number, number: number): readonly [number, PastRun] {
  return [
    sizeClass,
    {
      end: "succeeded",
      durationMs: durationOn(work, sizeClass),
      timeoutMs: hour,
      cpuMs: work.serialMs + (work.parallelMs ?? 0),
      peakMemoryBytes: work.peakMemoryBytes ?? 100e6,
      at: number * 60_000,
    },
  ];
}

export function times(count: number, work: Work, sizeClass: number, from = 1) {
  return Array.from({ length: count }, (_, i) => ran(work, sizeClass, from + i));
}

export function ended(
  end: PastRun["end"],
  sizeClass: number,
  number: number,
  changes: Partial<PastRun> = {},
): readonly [number, PastRun] {
  const run = { durationMs: 1_000, timeoutMs: hour, cpuMs: 1_000, at: number * 60_000 };
  return [sizeClass, { end, peakMemoryBytes: 100e6, ...run, ...changes }];
}

export function history(
  level: Level,
  runs: readonly (readonly [sizeClass: number, PastRun])[],
): KeyHistory {
  const byClass = new Map<number, PastRun[]>();
  for (const [sizeClass, run] of runs) {
    const known = byClass.get(sizeClass) ?? [];
    known.push(run);
    byClass.set(sizeClass, known);
  }
  return {
    key: `${level[0]} test`,
    level,
    runs: byClass,
    lastFailureAt: undefined,
    failuresInARow: 0,
    pageRank: new Map(),
  };
}

/** The seed's classes: 4 GiB for each CPU, and proportional prices. */
export const seedClasses: readonly OfferedClass[] = [1, 2, 4, 8].map((sizeClass) => ({
  sizeClass,
  cpus: sizeClass,
  memoryBytes: sizeClass * 4 * GiB,
  price: sizeClass,
  waitMs: 0,
}));

export function situation(
  histories: readonly KeyHistory[] = [],
  changes: Partial<Situation> = {},
): Situation {
  return {
    histories,
    classes: seedClasses,
    timeoutMs: hour,
    now: 1e12,
    draw: 0.5,
    ...changes,
  };
}
