import { historySize, type PastRun } from "../past-run.ts";
import type { EndedRun, Situation } from "../strategy.ts";

const minute = 60_000;

export function succeededIn(durationMs: number): PastRun {
  return { end: "succeeded", durationMs, timeoutMs: 30 * minute, at: 0 };
}

export const failed: PastRun = { end: "failed", durationMs: 5, timeoutMs: 30 * minute, at: 0 };

export function timedOutAfter(timeoutMs: number): PastRun {
  return { end: "timed_out", durationMs: timeoutMs, timeoutMs, at: 0 };
}

/** As many runs as are stored for a class, each slightly slower than the one before. */
export function aFullHistory(ofMs: (place: number) => number): PastRun[] {
  return Array.from({ length: historySize }, (_, place) => succeededIn(ofMs(place)));
}

export const neverSucceeds: readonly PastRun[] = Array.from({ length: historySize }, () => failed);

/** A situation of an action with outcomes by class; by default classes 1, 2, 4 and 8 and half an hour. */
export function aSituation(
  runs: Readonly<Record<number, readonly PastRun[]>> = {},
  changes: Partial<Situation> & {
    readonly sizeClasses?: readonly number[];
    readonly lastFailureAt?: number;
    readonly pageRank?: ReadonlyMap<number, number>;
  } = {},
): Situation {
  const { sizeClasses = [1, 2, 4, 8], lastFailureAt, pageRank = new Map(), ...others } = changes;
  return {
    histories: [
      {
        key: "a:1",
        level: "action",
        runs: new Map(Object.entries(runs).map(([sizeClass, of]) => [Number(sizeClass), of])),
        lastFailureAt,
        failuresInARow: 0,
        pageRank,
      },
    ],
    classes: sizeClasses.map((sizeClass) => ({
      sizeClass,
      cpus: sizeClass,
      memoryBytes: sizeClass * 2 ** 32,
      price: sizeClass,
      waitMs: 0,
    })),
    timeoutMs: 30 * minute,
    now: Date.parse("2026-09-01T12:00:00Z"),
    draw: 0.5,
    ...others,
  };
}

/** A run of the current execution, by default on class 1. */
export function anEndedRun(end: EndedRun["end"], changes: Partial<EndedRun> = {}): EndedRun {
  return { sizeClass: 1, end, durationMs: 3_000, timeoutMs: 15_000, ...changes };
}
