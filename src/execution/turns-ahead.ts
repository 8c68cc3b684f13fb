import { weightOf } from "./lane-weight.ts";

/** A lane as it stands: what leads it, and what it has running. */
export interface LaneState {
  readonly lane: number;
  /** Of what is first in it. */
  readonly priority: number;
  readonly leased: number;
}

/**
 * How many turns another lane has before ours has its turn number `turn`.
 *
 * orderClaims gives turn n of a lane the score n / weight, and the lowest goes first. That all in a lane has
 * its head's priority is a guess, which is why positions are told as "about".
 */
export function turnsAhead(
  ours: { readonly turn: number; readonly priority: number },
  other: LaneState,
): number {
  const score = ours.turn / weightOf(ours.priority);
  return Math.max(0, Math.ceil(score * weightOf(other.priority)) - 1 - other.leased);
}

/** The part of free workers that a lane may expect, by weight, while these lanes are open. */
export function shareOf(lane: number, open: readonly LaneState[]): number {
  const total = open.reduce((sum, { priority }) => sum + weightOf(priority), 0);
  const own = open.find((each) => each.lane === lane);
  return own === undefined || total === 0 ? 1 : weightOf(own.priority) / total;
}
