import { scoreOfTurn, turnsBelow, weightOf } from "./turn-score.ts";

/** The present state of a lane: its first execution, and its number of running executions. */
export interface LaneState {
  readonly lane: number;
  /** The owner's lane of its first execution. */
  readonly ownerLane: number;
  /** The priority of its first execution. */
  readonly priority: number;
  readonly leased: number;
}

/**
 * Returns how many turns another lane, or owner, has before ours has its turn number `turn`.
 *
 * It is assumed that all executions of a lane have the priority of its first, so positions are reported as "about".
 */
export function turnsAhead(
  ours: { readonly turn: number; readonly priority: number },
  other: Pick<LaneState, "priority" | "leased">,
): number {
  const score = scoreOfTurn(ours.turn, ours.priority);
  return Math.max(0, turnsBelow(score, other.priority) - other.leased);
}

/** Returns the owners of lanes, with the most urgent execution and the number of running executions of each. */
export function ownersOf(
  open: readonly LaneState[],
  leased: ReadonlyMap<number, number>,
): Map<number, Pick<LaneState, "priority" | "leased">> {
  const owners = new Map<number, Pick<LaneState, "priority" | "leased">>();
  for (const { ownerLane, priority } of open) {
    const most = Math.min(priority, owners.get(ownerLane)?.priority ?? priority);
    owners.set(ownerLane, { priority: most, leased: leased.get(ownerLane) ?? 0 });
  }
  return owners;
}

/** Returns the share of free workers that a lane may expect, by weight, while these lanes are open. */
export function shareOf(lane: number, open: readonly LaneState[]): number {
  const own = open.find((each) => each.lane === lane);
  if (own === undefined) return 1;
  const siblings = open.filter(({ ownerLane }) => ownerLane === own.ownerLane);
  const owners = ownersOf(open, new Map());
  const owner = owners.get(own.ownerLane) ?? own;
  return partOf(owner, [...owners.values()]) * partOf(own, siblings);
}

function partOf(
  one: Pick<LaneState, "priority">,
  all: readonly Pick<LaneState, "priority">[],
): number {
  const total = all.reduce((sum, { priority }) => sum + weightOf(priority), 0);
  return total === 0 ? 1 : weightOf(one.priority) / total;
}
