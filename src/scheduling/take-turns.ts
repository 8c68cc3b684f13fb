import { setImmediate } from "node:timers";

/** Far above what a turn costs. Something small that waits has a dozen steps to go, and waits before each. */
const longestTurnMs = 0.5;

/** While something short is in hand, long loops get a quarter of the time together. */
const restsPerTurn = 3;
/** A loop that waits for a disk between its turns did not work all the time. */
const mostOwedMs = 4;
/** However much is owed, so long a rest is enough: what is long goes on, too. */
const longestRestMs = 40;
/** What takes longer is not waiting for us. */
const shortMs = 50;
/**
 * So soon after one short thing, whoever had it done is likely to ask for the next: what others do for long
 * rests on. Without, it would have all of the time between two calls of one client, and what it began there
 * would hold up the second.
 */
const nextWithinMs = 10;

/** What somebody has of short things. */
interface Shorts {
  inHand: number;
  /** From then on nobody waits for it. */
  until: number;
}

/** Who waits, and for each the loops that do; the one whose turn is next first. */
const lines = new Map<string, (() => void)[]>();
const shorts = new Map<string, Shorts>();
let restUntil = 0;
let due = false;
let resting: NodeJS.Timeout | undefined;

/**
 * Answers a function to be awaited in each round of a long loop: it lets the rest of
 * the process have a turn whenever this loop had one for long enough.
 *
 * All such loops stand in one line, by turns of those for whom they work. Were each let on in every
 * round of the event loop, ten of them would make everybody else wait ten times as long.
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

/** Waits for a turn for work of some length, of which so much is done already, or will be before long. */
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
 * Tells that something short is in hand for somebody: long loops rest after each turn until it is over.
 * Answers how to tell that.
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

/** Whether something short of anybody else is in hand, or was a moment ago. */
export function isSomebodyElseWaiting(who: string): boolean {
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
  // To the end of those who wait.
  lines.delete(who);
  if (line.length > 0) lines.set(who, line);
  first?.();
  goOn();
}

/** Until when what is long for somebody is to rest. One's own next call may wait for what one has asked for already. */
function shortUntil(who: string, now: number): number {
  let until = 0;
  for (const [whose] of shorts) {
    const theirs = current(whose, now);
    if (theirs !== undefined && (theirs.inHand > 0 || whose !== who))
      until = Math.max(until, theirs.until);
  }
  return until;
}
