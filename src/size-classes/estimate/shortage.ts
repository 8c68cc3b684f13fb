import type { OfferedClass } from "../strategy.ts";
import type { KeyDigest } from "./key-digest.ts";

/** A run that failed with this much of its memory in use may have failed for want of it. */
export const nearLimit = 0.85;
/** So many runs in a row, each with a peak well below, and a shortage of memory is history. */
const runsToForget = 5;
const wellBelow = 0.7;

/** That a class had too little memory for an action. */
export interface Shortage {
  readonly sizeClass: number;
  readonly times: number;
}

/** Whether an action's own runs rule a class out: it ran out of memory there, and nothing since says otherwise. */
export function shortageOf(own: KeyDigest, offered: OfferedClass): Shortage | undefined {
  const on = own.classes.find((each) => each.sizeClass === offered.sizeClass);
  if (on === undefined) return undefined;
  // Some programs end with an exit code of their own when they get no more memory.
  const since =
    on.failedPeakBytes >= nearLimit * offered.memoryBytes
      ? Math.max(on.latestFailure, on.latestOutOfMemory)
      : on.latestOutOfMemory;
  if (since === 0 || on.latestSuccess > since) return undefined;
  const later = own.latestPeaks.slice(-runsToForget);
  const isHistory =
    later.length === runsToForget &&
    later.every((each) => each.number > since && each.bytes <= wellBelow * offered.memoryBytes);
  if (isHistory) return undefined;
  return { sizeClass: offered.sizeClass, times: Math.max(1, on.outOfMemory) };
}
