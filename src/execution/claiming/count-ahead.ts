import type { Tx } from "#db/db.ts";
import { countInLanes, type Head, type LanePrefix } from "./count-in-lanes.store.ts";
import { topLane } from "./fair-lane.ts";
import { type LaneState, ownersOf, turnsAhead } from "./turns-ahead.ts";

/** The approximate number of executions ahead of it that its workers could run. */
export interface Ahead {
  readonly top: number;
  readonly sameInvocation: number;
  readonly others: number;
  /** Counting stopped: there are more. */
  readonly isMore: boolean;
}

/** Counting stops after this many in its own lane. */
const mostCounted = 500;
/** The limit for all other lanes together; each lane is counted at least to its minimum depth. */
const mostCountedOfOthers = 4_000;
const fewestCounted = 5;
/** A place after all others. */
const everyPlace = Number.MAX_SAFE_INTEGER;

/** The execution whose position is counted. */
interface Counting {
  readonly invocation: string;
  readonly lane: number;
  readonly ownerLane: number;
  readonly place: number;
  readonly priority: number;
  /** Its row's address. */
  readonly row: string;
}

/** The current lanes, and how many executions each owner has running. */
interface Standing {
  readonly open: readonly LaneState[];
  readonly ownersLeased: ReadonlyMap<number, number>;
}

/** Counts in the order of orderClaims: the top class, overdue executions, then turns. */
export async function countAhead(
  tx: Tx,
  execution: Counting,
  heads: readonly Head[],
  standing: Standing,
  overdue: { readonly isOverdue: boolean; readonly overduePlace: number },
): Promise<Ahead> {
  const headsOf = (wanted: number) => heads.filter(({ lane }) => lane === wanted);
  const own = await countInLanes(
    tx,
    headsOf(execution.lane).map((head) => ({
      head,
      before: execution.place,
      beforeRow: execution.row,
      most: mostCounted,
    })),
    execution.invocation,
  );
  const ofOwn = sumOf(own, "count");
  const sameInvocation = sumOf(own, "same");
  const strangers = ofOwn - sameInvocation;
  // All executions of the top class are in one lane, whatever their owner.
  if (execution.lane === topLane)
    return { top: strangers, sameInvocation, others: 0, isMore: ofOwn >= mostCounted };

  const top = await countInLanes(
    tx,
    headsOf(topLane).map((head) => ({ head, before: everyPlace, most: mostCounted })),
  );
  const leased = standing.open.find(({ lane }) => lane === execution.lane)?.leased ?? 0;
  const ours = { turn: leased + ofOwn + 1, priority: execution.priority };
  const others = await countOthers(tx, execution, heads, standing, ours, overdue);
  const isMore = [ofOwn, sumOf(top, "count")].some((count) => count >= mostCounted);
  return {
    top: sumOf(top, "count"),
    sameInvocation,
    others: strangers + others.count,
    isMore: isMore || others.isMore,
  };
}

/** Counts the executions of other lanes that are overdue or have their turn earlier. */
async function countOthers(
  tx: Tx,
  execution: Counting,
  heads: readonly Head[],
  { open, ownersLeased }: Standing,
  ours: { readonly turn: number; readonly priority: number },
  { isOverdue, overduePlace }: { readonly isOverdue: boolean; readonly overduePlace: number },
): Promise<{ readonly count: number; readonly isMore: boolean }> {
  const rest = heads.filter(({ lane }) => lane !== topLane && lane !== execution.lane);
  const deepest = Math.max(
    fewestCounted,
    Math.ceil(mostCountedOfOthers / Math.max(1, rest.length)),
  );
  /** Lanes of the same owner have their own turns; lanes of another owner share that owner's turns. */
  const groupOf = (head: Pick<Head, "lane" | "ownerLane">) =>
    head.ownerLane === execution.ownerLane ? `lane ${head.lane}` : `owner ${head.ownerLane}`;
  const inGroups = async (stretches: readonly LanePrefix[]) => {
    const counted = await countInLanes(tx, stretches);
    const sums = new Map<string, number>();
    stretches.forEach(({ head }, i) => {
      const group = groupOf(head);
      sums.set(group, (sums.get(group) ?? 0) + (counted[i]?.count ?? 0));
    });
    return { sums, isMore: counted.some(({ count }) => count >= deepest) };
  };
  // Overdue executions come first and use the first turns of their group.
  const overdueBefore = isOverdue ? execution.place : overduePlace;
  const urgent = await inGroups(
    rest
      .filter(({ place }) => place < overdueBefore)
      .map((head) => ({ head, before: overdueBefore, most: deepest })),
  );
  if (isOverdue) return { count: sumOfAll(urgent.sums), isMore: urgent.isMore };
  const urgentOf = urgent.sums;
  const siblings = open.filter(({ ownerLane }) => ownerLane === execution.ownerLane);
  const inOwner = siblings.reduce(
    (sum, lane) =>
      lane.lane === execution.lane
        ? sum
        : sum + Math.max(urgentOf.get(groupOf(lane)) ?? 0, turnsAhead(ours, lane)),
    ours.turn - 1 - (siblings.find(({ lane }) => lane === execution.lane)?.leased ?? 0),
  );
  const ownersTurn = {
    turn: (ownersLeased.get(execution.ownerLane) ?? 0) + inOwner + 1,
    priority: execution.priority,
  };
  const ofOwner = new Map(
    [...ownersOf(open, ownersLeased)].map(([owner, state]) => [
      owner,
      turnsAhead(ownersTurn, state),
    ]),
  );
  const turns = new Map(
    open.map((state) => [
      groupOf(state),
      state.ownerLane === execution.ownerLane
        ? turnsAhead(ours, state)
        : (ofOwner.get(state.ownerLane) ?? 0),
    ]),
  );
  const waiting = await inGroups(
    rest.map((head) => ({
      head,
      before: everyPlace,
      most: Math.min(deepest, turns.get(groupOf(head)) ?? 0),
    })),
  );
  const ahead = new Map(urgentOf);
  for (const [group, count] of waiting.sums) {
    const inTurn = Math.min(count, turns.get(group) ?? 0);
    ahead.set(group, Math.max(ahead.get(group) ?? 0, inTurn));
  }
  return { count: sumOfAll(ahead), isMore: urgent.isMore || waiting.isMore };
}

function sumOfAll(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function sumOf<Key extends string>(rows: readonly Record<Key, number>[], key: Key): number {
  return rows.reduce((sum, row) => sum + row[key], 0);
}
