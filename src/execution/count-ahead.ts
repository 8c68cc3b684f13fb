import type { Tx } from "#db/db.ts";
import { countInLanes, type Head } from "./count-in-lanes.store.ts";
import { topLane } from "./fair-lane.ts";
import { type LaneState, turnsAhead } from "./turns-ahead.ts";

/** About how many go before it, of those that its workers could take. */
export interface Ahead {
  readonly top: number;
  readonly sameInvocation: number;
  readonly others: number;
  /** Counting stopped: there are more. */
  readonly isMore: boolean;
}

/** Beyond this many in its own lane, nobody counts on. */
const mostCounted = 500;
/** Other lanes are counted as deep as this allows in all, but each at least so deep. */
const mostCountedOfOthers = 4_000;
const fewestCounted = 5;
/** Later than every place. */
const everyPlace = Number.MAX_SAFE_INTEGER;

/** The execution that asks. */
interface Counting {
  readonly invocation: string;
  readonly lane: number;
  readonly place: number;
  readonly priority: number;
  /** Its row's address. */
  readonly row: string;
}

/** Counts in the order of orderClaims: the top class, what is overdue, then turns between lanes. */
export async function countAhead(
  tx: Tx,
  asked: Counting,
  heads: readonly Head[],
  open: readonly LaneState[],
  overdue: { readonly isOverdue: boolean; readonly overduePlace: number },
): Promise<Ahead> {
  const headsOf = (wanted: number) => heads.filter(({ lane }) => lane === wanted);
  const own = await countInLanes(
    tx,
    headsOf(asked.lane).map((head) => ({
      head,
      before: asked.place,
      beforeRow: asked.row,
      most: mostCounted,
    })),
    asked.invocation,
  );
  const ofOwn = sumOf(own, "count");
  const sameInvocation = sumOf(own, "same");
  const strangers = ofOwn - sameInvocation;
  // Those of the top class are all in one lane, whomever they belong to.
  if (asked.lane === topLane)
    return { top: strangers, sameInvocation, others: 0, isMore: ofOwn >= mostCounted };

  const top = await countInLanes(
    tx,
    headsOf(topLane).map((head) => ({ head, before: everyPlace, most: mostCounted })),
  );
  const leased = open.find(({ lane }) => lane === asked.lane)?.leased ?? 0;
  const ours = { turn: leased + ofOwn + 1, priority: asked.priority };
  const others = await countOthers(tx, asked, heads, open, ours, overdue);
  const isMore = [ofOwn, sumOf(top, "count")].some((count) => count >= mostCounted);
  return {
    top: sumOf(top, "count"),
    sameInvocation,
    others: strangers + others.count,
    isMore: isMore || others.isMore,
  };
}

/** Those of other lanes that are overdue, or have their turn sooner. */
async function countOthers(
  tx: Tx,
  asked: Counting,
  heads: readonly Head[],
  open: readonly LaneState[],
  ours: { readonly turn: number; readonly priority: number },
  { isOverdue, overduePlace }: { readonly isOverdue: boolean; readonly overduePlace: number },
): Promise<{ readonly count: number; readonly isMore: boolean }> {
  const rest = heads.filter(({ lane }) => lane !== topLane && lane !== asked.lane);
  const deepest = Math.max(
    fewestCounted,
    Math.ceil(mostCountedOfOthers / Math.max(1, rest.length)),
  );
  const turns = new Map(open.map((state) => [state.lane, turnsAhead(ours, state)]));
  const stretches = rest.map((head) => {
    if (isOverdue) return { head, before: asked.place, most: deepest };
    // Where something is overdue, that counts for more than turns.
    if (head.place < overduePlace) {
      turns.delete(head.lane);
      return { head, before: overduePlace, most: deepest };
    }
    return { head, before: everyPlace, most: Math.min(deepest, turns.get(head.lane) ?? 0) };
  });
  if (isOverdue) turns.clear();
  const counted = await countInLanes(tx, stretches);
  const byLane = new Map<number, number>();
  stretches.forEach(({ head: { lane } }, i) => {
    const sum = (byLane.get(lane) ?? 0) + (counted[i]?.count ?? 0);
    byLane.set(lane, Math.min(sum, turns.get(lane) ?? sum));
  });
  return {
    count: [...byLane.values()].reduce((sum, count) => sum + count, 0),
    isMore: counted.some(({ count }) => count >= deepest),
  };
}

function sumOf<Key extends string>(rows: readonly Record<Key, number>[], key: Key): number {
  return rows.reduce((sum, row) => sum + row[key], 0);
}
