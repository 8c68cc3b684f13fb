import type { TransferLine } from "#commit-index/order-transfer.ts";

/** A rule that a build is expected to look up. */
export interface ExpectedRule {
  /** In the builds that the index tells of, from their start. */
  readonly firstMs: number;
  /** Whether dune finds it by now. */
  readonly isThere: boolean;
  /** What of it has yet to come over the line. */
  readonly bytes: number;
}

/**
 * The fastest that a dune was seen to go where it finds all: 612 rules in 200 ms. What it does not find it makes, and
 * does not look for again, so it is taken to be twice as fast.
 */
const ruleMs = 0.15;
/** Its start, from when it was greeted: it reads all of its sources before the first rule. 40 ms and more were seen. */
const leadMs = 20;
/** Unpacking, comparing and naming of a rule's files: with nothing to fetch, 612 rules took 300 ms. */
const writeMs = 0.5;
/** Lines are slower than they were. */
const caution = 1.25;
/** Two windows are under way, and what is in the second may come before all of the first has. */
const overlapMs = 200;

/**
 * How long a build has to wait so that each rule is there before dune looks for it: 0 when it may begin.
 *
 * What comes is taken to come in the order of demand, over the measured line; what is looked for, in the same order, at
 * the speed of a build that finds all. Of rules of one moment, as a build notes that did not say when it used them, none
 * is taken to be later than another.
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
 * What it takes to make them, two at a time: 612 rules of 20 MB took 4.8 s, dune's own 3,157 of 58 MB 42 s. No more than
 * that is hoped for; what has many bytes takes longer.
 */
const makeMs = 6;
const madePerMs = 20_000;
/** A build that does not wait finds some of them, too. */
const worthShare = 0.6;

/** How long a build should wait for these at the most, where nobody asked for it. */
export function msWorthWaiting(rules: readonly ExpectedRule[]): number {
  let madeMs = 0;
  for (const { isThere, bytes } of rules) if (!isThere) madeMs += makeMs + bytes / madePerMs;
  return madeMs * worthShare;
}
