import type { CommitStanding } from "#api/search.ts";

/**
 * The known results of commits after a good one, by position from 1; the last is bad.
 *
 * A position that is not in the map is unknown.
 */
export interface KnownRange {
  readonly last: number;
  readonly known: ReadonlyMap<number, Exclude<CommitStanding, "unknown">>;
}

export type BisectStep =
  | { readonly kind: "probe"; readonly positions: readonly number[] }
  /** The running commits must end first. */
  | { readonly kind: "wait" }
  | { readonly kind: "found"; readonly position: number }
  /** None of the commits in between can be tested: the first bad one is among them, from and to included. */
  | { readonly kind: "undecidable"; readonly from: number; readonly to: number };

/**
 * Returns the next step of a bisection: which commits to test in parallel, or the result.
 *
 * The range starts with a good commit and ends with a bad one, with at least one change from good to bad in between.
 * The probes divide the range into equal parts, so that the number of rounds is minimal.
 */
export function nextProbes({ last, known }: KnownRange, parallel: number): BisectStep {
  const { low, high } = turnWithin({ last, known });
  if (high - low === 1) return { kind: "found", position: high };
  const untested: number[] = [];
  for (let at = low + 1; at < high; at++) {
    const standing = known.get(at);
    if (standing === "asked") return { kind: "wait" };
    if (standing === undefined) untested.push(at);
  }
  if (untested.length === 0) return { kind: "undecidable", from: low + 1, to: high };
  if (untested.length <= parallel) return { kind: "probe", positions: untested };

  const free = new Set(untested);
  const between = { low, high };
  const positions: number[] = [];
  for (let i = 1; i <= parallel; i++) {
    const wanted = within(between, i / (parallel + 1));
    const position = free.has(wanted) ? wanted : elsewhere(between, free);
    free.delete(position);
    positions.push(position);
  }
  return { kind: "probe", positions: positions.toSorted((a, b) => a - b) };
}

/** Finds the first pair of known neighbours where a good commit is followed by a bad one. */
export function turnWithin({ last, known }: KnownRange): Between {
  let high = last;
  for (const [position, standing] of known) if (standing === "bad") high = Math.min(high, position);
  let low = 0;
  for (const [position, standing] of known) {
    if (standing === "good" && position < high) low = Math.max(low, position);
  }
  return { low, high };
}

interface Between {
  readonly low: number;
  readonly high: number;
}

/** Returns the position at a fraction of the range; never one of the ends. */
function within({ low, high }: Between, fraction: number): number {
  return Math.min(low + Math.ceil(fraction * (high - low)), high - 1);
}

/**
 * Returns another commit to test when the intended one cannot be tested, or is already chosen.
 *
 * Tries the middle, the quarters, the eighths …, each once: a long range of commits that do not build is left in a few
 * rounds; trying one neighbour after the other would need as many rounds as its length.
 */
function elsewhere(between: Between, free: ReadonlySet<number>): number {
  const size = between.high - between.low;
  for (let n = 1; n <= size; n++) {
    const position = within(between, bitsReversed(n));
    if (free.has(position)) return position;
  }
  const [any] = free;
  if (any === undefined) throw new RangeError("there is nothing left to test");
  return any;
}

/** 1/2, 1/4, 3/4, 1/8, 5/8, 3/8 …: the binary digits of `n`, reversed, after the point. */
function bitsReversed(n: number): number {
  let fraction = 0;
  let weight = 0.5;
  for (let rest = n; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) fraction += weight;
    weight /= 2;
  }
  return fraction;
}

/** Returns the maximum number of rounds of a bisection of this many commits, when each can be tested. */
export function expectedRounds(commits: number, parallel: number): number {
  let rounds = 0;
  for (let reach = 1; reach < commits; reach *= parallel + 1) rounds++;
  return rounds;
}
