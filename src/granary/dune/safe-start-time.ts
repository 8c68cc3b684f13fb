import type { TransferLine } from "#commit-index/order-transfer.ts";

/** A rule that a build will probably look up. */
export interface ExpectedRule {
  /** The time of its first request in the builds of the index, from their start. */
  readonly firstMs: number;
  /** Whether dune can already find it. */
  readonly isThere: boolean;
  /** The bytes that still have to be transferred. */
  readonly bytes: number;
}

/**
 * The time that dune takes to look up one rule, in ms. The fastest dune that found all rules took 200 ms for 612. dune
 * makes a rule that it does not find, and does not look for it again. So dune is assumed to be twice as fast as
 * measured.
 */
const ruleMs = 0.15;
/**
 * The time from the greeting to dune's first lookup, in ms: dune reads all of its sources before the first rule.
 * Measurements showed 40 ms and more.
 */
const leadMs = 20;
/** The time to unpack, compare and name a rule's files, in ms: with nothing to fetch, 612 rules took 300 ms. */
const writeMs = 0.5;
/** A safety factor, because lines may become slower. */
const caution = 1.25;
/** Two windows are in flight, and results of the second may arrive before the end of the first. */
const overlapMs = 200;

/**
 * Returns how long a build has to wait so that each rule is present before dune looks for it: 0 when it may begin.
 *
 * Rules are assumed to arrive in the order of demand, over the measured line. dune is assumed to look for them in the
 * same order, at the speed of a build that finds all of them. Rules with the same time count as simultaneous; a build
 * that did not report its uses records them in this way.
 */
export function msUntilSafe(rules: readonly ExpectedRule[], line: TransferLine): number {
  const inOrder = [...rules].sort((one, other) => one.firstMs - other.firstMs);
  const bytesPerMs = Math.max(1, line.bytesPerSecond) / 1_000;
  const coming = inOrder.filter(({ isThere }) => !isThere);
  const arrivalMs = (bytes: number, count: number) =>
    caution * (line.roundTripMs + bytes / bytesPerMs + count * writeMs);
  const lastMs = arrivalMs(
    coming.reduce((sum, { bytes }) => sum + bytes, 0),
    coming.length,
  );
  let waitMs = 0;
  let [bytes, count] = [0, 0];
  let momentRank = 0;
  for (const [rank, rule] of inOrder.entries()) {
    if (rule.firstMs !== inOrder[momentRank]?.firstMs) momentRank = rank;
    if (rule.isThere) continue;
    bytes += rule.bytes;
    count += 1;
    const thereMs = Math.min(lastMs, arrivalMs(bytes, count) + overlapMs);
    waitMs = Math.max(waitMs, thereMs - (leadMs + momentRank * ruleMs));
  }
  return waitMs;
}

/**
 * The time to make a rule when two are made at once, in ms: 612 rules of 20 MB took 4.8 s, and dune's own 3,157 rules
 * of 58 MB took 42 s. Rules with many bytes take longer.
 */
const makeMs = 6;
const madePerMs = 20_000;
/**
 * The share of the rules that only a waiting build finds: a build that does not wait also finds
 * some of them.
 */
const worthShare = 0.6;

/** Returns how long a build should wait for these rules at most, without an explicit request. */
export function msWorthWaiting(rules: readonly ExpectedRule[]): number {
  let madeMs = 0;
  for (const { isThere, bytes } of rules) if (!isThere) madeMs += makeMs + bytes / madePerMs;
  return madeMs * worthShare;
}
