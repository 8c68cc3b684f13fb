import {
  chooseInTime,
  type DemandTimes,
  dueMs,
  type InTime,
  type Transfer,
} from "./choose-in-time.ts";
import { demandScale } from "./demand-scale.ts";
import { orderInWindows } from "./order-in-windows.ts";
import { openBudget } from "./transfer-budget.ts";

/** A result that a build will probably request, and its cost of transfer. */
export interface WantedTransfer<Item> {
  readonly item: Item;
  /** The missing bytes. */
  readonly bytes: number;
  /** From the start of the index's build until its request. */
  readonly firstMs: number;
  readonly savedMs: number | undefined;
  /** The probability of its request, from 0 to 1. */
  readonly confidence: number;
}

export interface TransferLine {
  readonly roundTripMs: number;
  /** The speed of unpacked data. */
  readonly bytesPerSecond: number;
}

export interface TransferLimits {
  readonly bytes: number;
  readonly results: number;
}

export type LeftOutBecause = "over-budget" | "too-late" | "not-worth-it";

interface TransferPlan<Item> {
  /** The items to request, in this order. */
  readonly order: readonly Item[];
  readonly leftOut: readonly { readonly item: Item; readonly because: LeftOutBecause }[];
  /** The total number of bytes in `order`. */
  readonly bytes: number;
  /** The number of items at the beginning of `order` that a waiting build will request before they can arrive. */
  readonly behind: number;
  /** How many of the following items are expected to arrive before they are requested. */
  readonly inTime: number;
  /** The assumed factor for the build's speed of requests. */
  readonly demandScale: number;
}

interface OrderOptions {
  readonly line: TransferLine;
  readonly limits: TransferLimits;
  /** The time since the build's start; negative before it. */
  readonly elapsedMs?: number;
  /** The factor observed in this build; estimated when absent. */
  readonly demandScale?: number;
  /**
   * The time after its request during which a result is still useful. Default: the duration of a separate request; 0
   * for tools that check the cache themselves and do not wait (dune), Infinity to send everything in order of demand.
   */
  readonly toleratedMs?: number;
  /** The parallelism of the index's builds, if known. */
  readonly parallelism?: number;
}

/**
 * Returns the order in which to prefetch results, so that as many as possible arrive before they are requested.
 *
 * The arrival over the line is simulated against demand. Results that arrive in time are sent first, in order of
 * demand; when not all can, those that save most per byte are chosen. On a fast line this is simply the order of
 * demand. On a slow line, the transfer begins at a point where it can stay ahead of the build. Otherwise every result
 * would arrive shortly after its request and be useless (measured: 9 of 563 were useful). All others are sent
 * afterwards, the last first, because the build may be slower than estimated.
 *
 * When the next requests of a build are small, they are sent before everything else: the build waits for them, and this
 * wait delays its later requests by the same time. When they were sent after all others, the second request of ccache
 * got its result only at the end of the transfer.
 */
export function orderTransfer<Item>(
  wanted: readonly WantedTransfer<Item>[],
  options: OrderOptions,
): TransferPlan<Item> {
  const { limits } = options;
  const leftOut: { readonly item: Item; readonly because: LeftOutBecause }[] = [];
  const leave = ({ item }: Transfer<Item>, because: LeftOutBecause) =>
    leftOut.push({ item, because });
  const useful: Transfer<Item>[] = [];
  for (const transfer of transfersOf(wanted, options.line)) {
    if (shouldPrefetch(transfer)) useful.push(transfer);
    else leave(transfer, "not-worth-it");
  }
  useful.sort((one, other) => one.firstMs - other.firstMs);

  const { roundTripMs } = options.line;
  const { elapsedMs = 0, toleratedMs } = options;
  const times = { beginMs: roundTripMs, elapsedMs, toleratedMs };
  const { scale, isLate } = settleScale(useful, times, options);

  const budget = openBudget(limits);
  const next = barelyLate(
    useful.filter((_, at) => isLate[at] === 1),
    times,
    scale,
  );
  const behind = budget.keep(next, (transfer) => leave(transfer, "over-budget"));
  const isNext = new Set(next);
  const inTime = budget.keep(
    useful.filter((_, at) => isLate[at] === 0),
    (transfer) => leave(transfer, "over-budget"),
  );
  const order = [...behind, ...orderInWindows(inTime, times, scale)];
  let atMs = roundTripMs + sumOf(order, ({ costMs }) => costMs);
  for (let at = useful.length - 1; at >= 0; at--) {
    const transfer = useful[at];
    if (transfer === undefined || isLate[at] === 0 || isNext.has(transfer)) continue;
    const arrivalMs = atMs + transfer.costMs;
    if (arrivalMs > dueMs(transfer, times, slowdownMargin) + lateStartMs) {
      leave(transfer, "too-late");
    } else if (budget.take(transfer)) {
      order.push(transfer);
      atMs = arrivalMs;
    } else {
      leave(transfer, "over-budget");
    }
  }
  return {
    order: order.map(({ item }) => item),
    leftOut,
    bytes: sumOf(order, ({ bytes }) => bytes),
    behind: behind.length,
    inTime: inTime.length,
    demandScale: scale,
  };
}

/** The transfers that a build waits for may delay all others by at most this time, in ms. */
const mostBarelyLateMs = 50;

/**
 * Returns late results that may not have been requested yet; none when there are so many that the transfer would stay
 * behind the build.
 */
function barelyLate<Item>(
  late: readonly Transfer<Item>[],
  times: DemandTimes,
  scale: number,
): readonly Transfer<Item>[] {
  // A tool that does not wait cannot use late results.
  if (times.toleratedMs === 0) return [];
  const next = late.filter(({ firstMs }) => firstMs * scale - times.elapsedMs >= -lateStartMs);
  return sumOf(next, ({ costMs }) => costMs) <= mostBarelyLateMs ? next : [];
}

/** The size of a result's own message, without its blobs. */
const bytesOfResult = 256;
/** While no cost is known, all results are assumed to cost the same. */
const defaultSavedMs = 100;

function transfersOf<Item>(
  wanted: readonly WantedTransfer<Item>[],
  { bytesPerSecond }: TransferLine,
): Transfer<Item>[] {
  const known = Float64Array.from(
    wanted.flatMap(({ savedMs }) => (savedMs === undefined ? [] : [savedMs])),
  ).sort();
  // An unknown cost counts as the median cost.
  const medianSavedMs = known[known.length >> 1] ?? defaultSavedMs;
  return wanted.map(({ item, bytes, firstMs, savedMs, confidence }) => {
    const bytesSent = bytes + bytesOfResult;
    const estimatedSavedMs = savedMs ?? medianSavedMs;
    const valueMs = estimatedSavedMs * confidence;
    return {
      item,
      bytes,
      firstMs,
      confidence,
      savedMs: estimatedSavedMs,
      isCostKnown: savedMs !== undefined,
      costMs: (bytesSent / Math.max(1, bytesPerSecond)) * 1_000,
      valueMs,
      density: valueMs / bytesSent,
    };
  });
}

/**
 * When costs are unknown, large results are often the most expensive ones, so they are not left out because of a guess.
 */
function shouldPrefetch({ isCostKnown, costMs, valueMs }: Transfer<unknown>): boolean {
  return !isCostKnown || costMs <= valueMs;
}

/** Measured: a build of the same commit took up to twice as long on a busy machine. */
const slowdownMargin = 2;
/** A tool that has to start itself first (a JVM) begins later by this time. */
const lateStartMs = 1_000;
/** Each step halves the uncertainty of the scale. */
const scaleSteps = 3;

/**
 * Returns which results arrive in time, at the resulting speed of the build: when more results arrive, the build is
 * faster; when the build is faster, fewer results arrive in time. Bisection finds the balance.
 */
function settleScale(
  transfers: readonly Transfer<unknown>[],
  times: DemandTimes,
  { demandScale: given, parallelism }: { demandScale?: number; parallelism?: number },
): InTime {
  if (given !== undefined) return chooseInTime(transfers, times, given);
  const fastest = demandScale(transfers, parallelism);
  const valueMs = sumOf(transfers, (one) => one.valueMs) || 1;
  let found = chooseInTime(transfers, times, fastest);
  if (found.valueMs >= valueMs * nearlyAll || fastest > slowEnough) return found;
  let [low, high] = [fastest, 1];
  for (let step = 0; step < scaleSteps; step++) {
    found = chooseInTime(transfers, times, (low + high) / 2);
    const speed = 1 - (found.valueMs / valueMs) * (1 - fastest);
    if (speed > found.scale) low = found.scale;
    else high = found.scale;
  }
  return found;
}

/** Smaller differences in the speed of a build are ignored. */
const nearlyAll = 0.98;
const slowEnough = 0.9;

function sumOf<T>(all: readonly T[], of: (one: T) => number): number {
  let sum = 0;
  for (const one of all) sum += of(one);
  return sum;
}
