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

/** What a build is likely to ask for, and what it takes to have it here. */
export interface WantedTransfer<Item> {
  readonly item: Item;
  /** What of it is not here yet. */
  readonly bytes: number;
  /** From the start of the build that the index tells of until it asked. */
  readonly firstMs: number;
  readonly savedMs: number | undefined;
  /** How likely it is to be asked for: from 0 to 1. */
  readonly confidence: number;
}

export interface TransferLine {
  readonly roundTripMs: number;
  /** Of what comes when it is unpacked. */
  readonly bytesPerSecond: number;
}

export interface TransferLimits {
  readonly bytes: number;
  readonly results: number;
}

export type LeftOutBecause = "over-budget" | "too-late" | "not-worth-it";

interface TransferPlan<Item> {
  /** What to ask for, in this order. */
  readonly order: readonly Item[];
  readonly leftOut: readonly { readonly item: Item; readonly because: LeftOutBecause }[];
  /** What `order` comes to. */
  readonly bytes: number;
  /** How many of `order`, from its beginning, a build that waits is about to ask for, sooner than they can be here. */
  readonly behind: number;
  /** How many after those are expected before they are asked for. */
  readonly inTime: number;
  /** How fast the build was taken to ask. */
  readonly demandScale: number;
}

interface OrderOptions {
  readonly line: TransferLine;
  readonly limits: TransferLimits;
  /** How long the build has been running; negative while it has not begun. */
  readonly elapsedMs?: number;
  /** As observed of this build; estimated when nobody knows. */
  readonly demandScale?: number;
  /**
   * How long after it is asked for a result is still of use. By default as long as a request of its own would take;
   * 0 for tools that look for themselves and do not wait (dune), Infinity to send all in order of demand.
   */
  readonly toleratedMs?: number;
  /** How many things the index's builds made at a time, where that is known. */
  readonly parallelism?: number;
}

/**
 * In which order to fetch what a build will ask for, so that as much as possible is here before.
 *
 * Arrival over the line is simulated against demand. What arrives in time goes first, in order of demand; where not
 * all can, what saves most by the byte. So a fast line is gone forward from the beginning, and on a slow one the transfer
 * begins where it can be ahead of the build: fetching what is asked for at that moment would chase the build and reach
 * nothing (measured: 9 of 563). All else comes afterwards, the last first: of that the build may yet be slower than thought.
 *
 * Where what a build is about to ask for comes to little, it goes before all: it waits for that, and asks for what follows
 * so much later. In its place after all else, the second thing that ccache asked for came with the last of the transfer.
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

/** What goes first because a build waits for it holds up all else by no more. */
const mostBehindMs = 50;

/** What is late and may not have been passed yet; nothing where that is so much that the line chases the build. */
function justBehind<Item>(
  late: readonly Transfer<Item>[],
  times: DemandTimes,
  scale: number,
): readonly Transfer<Item>[] {
  // Who does not wait has no use for what is late.
  if (times.toleratedMs === 0) return [];
  const next = late.filter(
    ({ firstMs }) => firstMs * scale - times.elapsedMs >= -laterThanThoughtMs,
  );
  return sumOf(next, ({ costMs }) => costMs) <= mostBehindMs ? next : [];
}

/** A result's own message, beside its blobs. */
const bytesOfResult = 256;
/** As long as nobody knows what anything costs, all cost the same. */
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

/** Of what nobody knows the cost of, the largest are often the dearest: they are not left out over a guess. */
function isWorthIt({ isCostKnown, costMs, worthMs }: Transfer<unknown>): boolean {
  return !isCostKnown || costMs <= worthMs;
}

/** The same build of the same commit took up to twice as long on a busy machine. */
const slowerThanThought = 2;
/** A tool that has to start itself first (a JVM) begins so much later. */
const laterThanThoughtMs = 1_000;
/** Each halves what is unknown of the scale. */
const scaleSteps = 3;

/**
 * What arrives in time, at the speed at which the build then goes: the more of it does, the faster the build, and the
 * faster the build, the less of it does. The two meet at one speed, which is found by halving.
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
