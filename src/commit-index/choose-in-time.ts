import { integerMinHeap } from "./integer-min-heap.ts";

/** A transfer with its cost and its value. */
export interface Transfer<Item> {
  readonly item: Item;
  readonly bytes: number;
  /** The time at which the index's builds requested it, in ms since their start. */
  readonly firstMs: number;
  readonly confidence: number;
  readonly savedMs: number;
  /** Whether `savedMs` is known and not a guess. */
  readonly isCostKnown: boolean;
  /** The duration of its transfer. */
  readonly costMs: number;
  /** The time that it will probably save. */
  readonly valueMs: number;
  /** The same per byte. */
  readonly density: number;
}

export function byDensity(one: Transfer<unknown>, other: Transfer<unknown>): number {
  return other.density - one.density;
}

export interface DemandTimes {
  /** The time at which the first byte arrives. */
  readonly beginMs: number;
  /** The time since the build's start. */
  readonly elapsedMs: number;
  /** How long after the request a result is still useful; undefined: the duration of a separate request. */
  readonly toleratedMs: number | undefined;
}

/** Returns the time from which a result is useless, if the index's times are multiplied by `scale`. */
export function dueMs(
  { firstMs, costMs }: Transfer<unknown>,
  { beginMs, elapsedMs, toleratedMs }: DemandTimes,
  scale: number,
): number {
  return firstMs * scale - elapsedMs + (toleratedMs ?? beginMs + costMs);
}

export interface InTime {
  /** The factor for the index's times. */
  readonly scale: number;
  /** For each transfer, 1 when it is late. */
  readonly isLate: Uint8Array;
  /** The total value of the transfers that are in time. */
  readonly valueMs: number;
}

/**
 * At most this many are dropped for one transfer: without a limit, the work would be quadratic in a hundred thousand
 * transfers.
 */
const mostDropped = 4;

/**
 * Chooses which of the transfers arrive in time, when they run one after the other in order of demand.
 *
 * Moore and Hodgson's rule for jobs with due dates, weighted: when one would be late, those with the least value per
 * byte are dropped, if their value is less than that of the late one.
 */
export function chooseInTime(
  transfers: readonly Transfer<unknown>[],
  times: DemandTimes,
  scale: number,
): InTime {
  const isLate = new Uint8Array(transfers.length);
  const chosen = integerMinHeap(transfers.length);
  const dropped: number[] = [];
  let atMs = times.beginMs;
  let valueMs = 0;
  transfers.forEach((transfer, at) => {
    const due = dueMs(transfer, times, scale);
    const { costMs } = transfer;
    let droppedMs = 0;
    let droppedValueMs = 0;
    dropped.length = 0;
    if (times.beginMs + costMs <= due) {
      while (atMs - droppedMs + costMs > due && dropped.length < mostDropped) {
        const least = transfers[chosen.least() ?? at];
        if (least === undefined || droppedValueMs + least.valueMs >= transfer.valueMs) break;
        droppedMs += least.costMs;
        droppedValueMs += least.valueMs;
        dropped.push(chosen.pop() ?? at);
      }
    }
    if (atMs - droppedMs + costMs <= due) {
      for (const index of dropped) isLate[index] = 1;
      atMs += costMs - droppedMs;
      valueMs += transfer.valueMs - droppedValueMs;
      chosen.push(at, transfer.density);
    } else {
      for (const index of dropped) chosen.push(index, transfers[index]?.density ?? 0);
      isLate[at] = 1;
    }
  });
  return { scale, isLate, valueMs };
}
