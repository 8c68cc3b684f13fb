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
  /** The bytes that are missing here. */
  readonly bytes: number;
  /** From the start of the index's build until its request. */
  readonly firstMs: number;
  readonly savedMs: number | undefined;
  /** How likely it is to be asked for: from 0 to 1. */
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
  /** The total of `order`. */
  readonly bytes: number;
  /** How many of `order`, from its beginning, a build that waits is about to ask for, sooner than they can be here. */
  readonly behind: number;
  /** How many of the following are expected to arrive before they are requested. */
  readonly inTime: number;
  /** How fast the build was taken to ask. */
  readonly demandScale: number;
}

interface OrderOptions {
  readonly line: TransferLine;
  readonly limits: TransferLimits;
  /** How long the build has been running; negative while it has not begun. */
  readonly elapsedMs?: number;
  /** As observed of this build; estimated when unknown. */
  readonly demandScale?: number;
  /**
   * How long after its request a result is still useful. Default: as long as a request of its own would take;
   * 0 for tools that look themselves and do not wait (dune), Infinity to send all in order of demand.
   */
  readonly toleratedMs?: number;
  /** How many things the index's builds made at a time, where that is known. */
  readonly parallelism?: number;
}

/**
 * Returns the order in which to prefetch results, so that as many as possible arrive before they are requested.
 *
 * The arrival over the line is simulated against demand. Results that arrive in time go first, in order of demand; when
 * not all can, those that save most per byte. On a fast line this is simply the order of demand. On a slow one the
 * transfer begins where it can stay ahead of the build: fetching results that are just being requested would follow the
 * build and help nothing (measured: 9 of 563). All others come afterwards, the last first, because the build may be
 * slower than estimated.
 *
 * When the next requests of a build are small, they go before everything: the build waits for them, and its later
 * requests come later by that time. With these after all others, the second request of ccache got its result at the end
 * of the transfer.
 */
export function orderTransfer<Item>(
  wanted: readonly WantedTransfer<Item>[],
  options: OrderOptions,
): TransferPlan<Item> {
  const { limits } = options;
  const leftOut: { readonly item: Item; readonly because: LeftOutBecause }[] = [];
  const leave = ({ item }: Transfer<Item>, because: LeftOutBecause) =>
    leftOut.push({ item, because });
  const worthIt: Transfer<Item>[] = [];
  for (const transfer of transfersOf(wanted, options.line)) {
    if (isWorthIt(transfer)) worthIt.push(transfer);
    else leave(transfer, "not-worth-it");
  }
  worthIt.sort((one, other) => one.firstMs - other.firstMs);

  const { roundTripMs } = options.line;
  const { elapsedMs = 0, toleratedMs } = options;
  const times = { beginMs: roundTripMs, elapsedMs, toleratedMs };
  const { scale, isLate } = settleScale(worthIt, times, options);

  const budget = openBudget(limits);
  const next = justBehind(
    worthIt.filter((_, at) => isLate[at] === 1),
    times,
    scale,
  );
  const behind = budget.keep(next, (transfer) => leave(transfer, "over-budget"));
  const isNext = new Set(next);
  const inTime = budget.keep(
    worthIt.filter((_, at) => isLate[at] === 0),
    (transfer) => leave(transfer, "over-budget"),
  );
  const order = [...behind, ...orderInWindows(inTime, times, scale)];
  let atMs = roundTripMs + sumOf(order, ({ costMs }) => costMs);
  for (let at = worthIt.length - 1; at >= 0; at--) {
    const transfer = worthIt[at];
    if (transfer === undefined || isLate[at] === 0 || isNext.has(transfer)) continue;
    const arrivalMs = atMs + transfer.costMs;
    if (arrivalMs > dueMs(transfer, times, slowerThanThought) + laterThanThoughtMs) {
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

/** The transfers that go first because a build waits for them delay all others by at most this, in ms. */
const mostBehindMs = 50;

/**
 * Returns late results that may not have been requested yet; none when they are so many that the line would chase the
 * build.
 */
function justBehind<Item>(
  late: readonly Transfer<Item>[],
  times: DemandTimes,
  scale: number,
): readonly Transfer<Item>[] {
  // A tool that does not wait cannot use late results.
  if (times.toleratedMs === 0) return [];
  const next = late.filter(
    ({ firstMs }) => firstMs * scale - times.elapsedMs >= -laterThanThoughtMs,
  );
  return sumOf(next, ({ costMs }) => costMs) <= mostBehindMs ? next : [];
}

/** A result's own message, beside its blobs. */
const bytesOfResult = 256;
/** While no cost is known, all results cost the same. */
const savedWithoutAny = 100;

function transfersOf<Item>(
  wanted: readonly WantedTransfer<Item>[],
  { bytesPerSecond }: TransferLine,
): Transfer<Item>[] {
  const known = Float64Array.from(
    wanted.flatMap(({ savedMs }) => (savedMs === undefined ? [] : [savedMs])),
  ).sort();
  // Unknown is neither nothing nor much.
  const usualMs = known[known.length >> 1] ?? savedWithoutAny;
  return wanted.map(({ item, bytes, firstMs, savedMs, confidence }) => {
    const onTheLine = bytes + bytesOfResult;
    const savedOrUsualMs = savedMs ?? usualMs;
    const worthMs = savedOrUsualMs * confidence;
    return {
      item,
      bytes,
      firstMs,
      confidence,
      savedMs: savedOrUsualMs,
      isCostKnown: savedMs !== undefined,
      costMs: (onTheLine / Math.max(1, bytesPerSecond)) * 1_000,
      worthMs,
      density: worthMs / onTheLine,
    };
  });
}

/** When costs are unknown, large results are often the dearest: they are not left out because of a guess. */
function isWorthIt({ isCostKnown, costMs, worthMs }: Transfer<unknown>): boolean {
  return !isCostKnown || costMs <= worthMs;
}

/** The same build of the same commit took up to twice as long on a busy machine. */
const slowerThanThought = 2;
/** A tool that has to start itself first (a JVM) begins so much later. */
const laterThanThoughtMs = 1_000;
/** Each step halves the uncertainty of the scale. */
const scaleSteps = 3;

/**
 * Returns which results arrive in time, at the resulting speed of the build: the more arrive, the faster the build is,
 * and the faster it is, the fewer arrive. The balance is found by bisection.
 */
function settleScale(
  transfers: readonly Transfer<unknown>[],
  times: DemandTimes,
  { demandScale: told, parallelism }: { demandScale?: number; parallelism?: number },
): InTime {
  if (told !== undefined) return chooseInTime(transfers, times, told);
  const fastest = demandScale(transfers, parallelism);
  const worthMs = sumOf(transfers, (one) => one.worthMs) || 1;
  let found = chooseInTime(transfers, times, fastest);
  if (found.worthMs >= worthMs * allButNothing || fastest > slowEnough) return found;
  let [low, high] = [fastest, 1];
  for (let step = 0; step < scaleSteps; step++) {
    found = chooseInTime(transfers, times, (low + high) / 2);
    const speed = 1 - (found.worthMs / worthMs) * (1 - fastest);
    if (speed > found.scale) low = found.scale;
    else high = found.scale;
  }
  return found;
}

/** Nothing finer is known of a build's speed. */
const allButNothing = 0.98;
const slowEnough = 0.9;

function sumOf<T>(all: readonly T[], of: (one: T) => number): number {
  let sum = 0;
  for (const one of all) sum += of(one);
  return sum;
}
