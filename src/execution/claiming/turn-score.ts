import { strongestPriority } from "./queue-place.ts";

/*
 * The order of turns among lanes and among owners. Claims are ordered by it (order-claims.ts), and positions in the queue
 * are counted by it (turns-ahead.ts).
 */

/** Returns how much weight the turns of a lane have: 100 steps of priority halve or double it (Buildbarn's rule). */
export function weightOf(priority: number): number {
  return 2 ** (-Math.min(strongestPriority, Math.max(-strongestPriority, priority)) / 100);
}

/**
 * Returns the score of the nth turn (1 is the first) of a lane whose head has this priority. The lowest comes first.
 */
export function scoreOfTurn(turn: number, priority: number): number {
  return turn / weightOf(priority);
}

/** Returns how many turns of a lane whose head has this priority have a lower score: the inverse of `scoreOfTurn`. */
export function turnsBelow(score: number, priority: number): number {
  return Math.ceil(score * weightOf(priority)) - 1;
}
