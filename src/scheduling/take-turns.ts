import { setImmediate } from "node:timers";

/** Far longer than a turn should take. A short task has about a dozen steps and waits before each. */
const longestTurnMs = 0.5;

/** While short work is running, long loops together get a quarter of the time. */
const restsPerTurn = 3;
/** A loop that waits for a disk between its turns did not work all the time. */
const mostOwedMs = 4;
/** The longest rest, however much time is owed, so that long work also continues. */
const longestRestMs = 40;
/** Work that takes longer than this does not count as short. In ms. */
const shortMs = 50;
/**
 * An owner whose short work has ended is likely to send the next request within this time, in ms. Long work of other
 * owners rests until then. Otherwise it would use the time between two calls of one client and delay the second call.
 */
const nextWithinMs = 10;

/** The short work of one owner. */
interface Shorts {
  inHand: number;
  /** When the wait for further short work of the owner ends. */
  until: number;
}

/** The waiting loops by owner, the owner with the next turn first. */
const lines = new Map<string, (() => void)[]>();
const shorts = new Map<string, Shorts>();
let restUntil = 0;
let due = false;
let resting: NodeJS.Timeout | undefined;

/**
 * Returns a function to await in each round of a long loop: when the loop has used its turn, the function lets the rest
 * of the process run.
 *
 * All such loops wait in one line, in turns of their owners. If each continued in every round of the event loop, ten
 * loops would make everything else wait ten times as long.
 */
export function takingTurns(
  turnMs = longestTurnMs,
  who = "the server",
): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    const spentMs = performance.now() - since;
    if (spentMs < turnMs) return undefined;
    return myTurn(who, Math.min(spentMs, mostOwedMs)).then(() => {
      since = performance.now();
    });
  };
}

/** Waits for a turn for work of some length that was already done, or soon will be. */
export function myTurn(who: string, owedMs: number): Promise<void> {
  const now = performance.now();
  restUntil = Math.min(Math.max(restUntil, now) + restsPerTurn * owedMs, now + longestRestMs);
  return new Promise((resolve) => {
    const line = lines.get(who);
    if (line === undefined) lines.set(who, [resolve]);
    else line.push(resolve);
    goOn();
  });
}

/**
 * Registers the start of an owner's short work: long loops rest after each turn until it ends. Returns the function
 * that registers its end.
 */
export function shortWork(who: string): () => void {
  const now = performance.now();
  const theirs = current(who, now) ?? { inHand: 0, until: 0 };
  shorts.set(who, theirs);
  theirs.inHand++;
  theirs.until = now + shortMs;
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    theirs.inHand--;
    if (theirs.inHand > 0) return;
    theirs.until = Math.min(theirs.until, performance.now() + nextWithinMs);
    if (resting === undefined) return;
    clearTimeout(resting);
    resting = undefined;
    goOn();
  };
}

/** Returns whether another owner has short work, or had some a moment ago. */
export function isAnotherOwnerWaiting(who: string): boolean {
  const now = performance.now();
  for (const [whose] of shorts) if (whose !== who && current(whose, now) !== undefined) return true;
  return false;
}

function current(who: string, now: number): Shorts | undefined {
  const theirs = shorts.get(who);
  if (theirs === undefined || theirs.until > now) return theirs;
  shorts.delete(who);
  return undefined;
}

function goOn(): void {
  if (due || resting !== undefined || lines.size === 0) return;
  due = true;
  setImmediate(letOneOn);
}

function letOneOn(): void {
  due = false;
  const [next] = lines;
  if (next === undefined) return;
  const [who, line] = next;
  const now = performance.now();
  const restMs = Math.min(restUntil, shortUntil(who, now)) - now;
  if (restMs > 0) {
    resting = setTimeout(() => {
      resting = undefined;
      goOn();
    }, restMs);
    return;
  }
  const first = line.shift();
  // Moves the owner to the end of the line.
  lines.delete(who);
  if (line.length > 0) lines.set(who, line);
  first?.();
  goOn();
}

/**
 * Returns the time until which long work of an owner rests. The owner's own short work does not count: its next call
 * may depend on the long work.
 */
function shortUntil(who: string, now: number): number {
  let until = 0;
  for (const [whose] of shorts) {
    const theirs = current(whose, now);
    if (theirs !== undefined && (theirs.inHand > 0 || whose !== who))
      until = Math.max(until, theirs.until);
  }
  return until;
}
