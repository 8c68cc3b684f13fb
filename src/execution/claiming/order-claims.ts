import type { ExecutionId } from "../execution.ts";
import { lastLane, topLane } from "./fair-lane.ts";
import { isOverdue } from "./is-overdue.ts";
import { scoreOfTurn } from "./turn-score.ts";

/** A queued execution that a worker could take. */
export interface Candidate {
  readonly id: ExecutionId;
  readonly sizeClass: number;
  readonly lane: number;
  readonly ownerLane: number;
  readonly place: number;
  readonly priority: number;
  readonly queuedAt: Date;
  /** The key of the most similar executions (`similarityKeysOf`); null when the client gave none. */
  readonly similarityKey?: string | null;
}

/** The numbers of currently leased executions, by lane and by the lane of their owner. */
export interface Busy {
  readonly lanes: ReadonlyMap<number, number>;
  readonly owners: ReadonlyMap<number, number>;
}

/** The other facts that decide the order. */
interface ClaimSituation {
  readonly busy: Busy;
  readonly now: Date;
  readonly overdueAfterMs: number;
  /** Among lanes with equal turns, this one goes first: the worker has inputs that its executions need. */
  readonly preferredLane?: number | undefined;
}

/** The lower rank comes first, regardless of all other criteria. */
const ranks = { top: 0, overdue: 1, usual: 2, last: 3 } as const;
type Rank = (typeof ranks)[keyof typeof ranks];

/**
 * Returns the order in which a worker takes candidates.
 *
 * First the top class, then overdue executions, both by place. Then executions of the worker's own size class;
 * otherwise the large machine would be busy with small ones. Then owners by turns, and within each owner its lanes by
 * turns: the next execution of a lane counts everything that the lane has running, against the weight of its priority.
 * So ten builds of one person get as much as one build of another. Finally, the order is by place.
 *
 * Executions for which no client waits come after all others, however long they have been queued.
 *
 * Overdue executions are exempt from lanes, so that every execution starts eventually. An execution of priority p,
 * among others of q or more, goes before all with a later place once it has waited for `overdueAfterMs +
 * delayOfPriorityMs(max(0, p) - min(0, q))`: 15 minutes among usual priorities, 55½ hours and 15 minutes between the
 * extreme ones. The reason: an execution with an earlier place was queued no later than the difference in priority
 * after it, and is then overdue itself, so it does not hide the executions behind it in its lane. Only the top class
 * and earlier places are still ahead.
 */
export function orderClaims(
  candidates: readonly Candidate[],
  situation: ClaimSituation,
): Candidate[] {
  const { busy, now, overdueAfterMs, preferredLane } = situation;
  const isOther = ({ candidate }: Ranked) => (candidate.lane === preferredLane ? 0 : 1);
  const laneTurn = turnsOf(busy.lanes);
  const byLane = candidates
    .map((candidate) => ({ candidate, rank: rankOf(candidate, now, overdueAfterMs) }))
    .toSorted((a, b) => a.rank - b.rank || bySize(a, b) || byPlace(a, b))
    .map((ranked) => ({ ...ranked, score: laneTurn(ranked.candidate.lane, ranked) }))
    .toSorted(
      (a, b) =>
        a.rank - b.rank ||
        bySize(a, b) ||
        a.score - b.score ||
        (a.rank === ranks.usual ? isOther(a) - isOther(b) : 0) ||
        byPlace(a, b),
    );
  const ownerTurn = turnsOf(busy.owners);
  // Within an owner, the order of its lanes is kept: a later turn never comes before an earlier one.
  const latest = new Map<number, number>();
  return byLane
    .map((ranked) => {
      const { ownerLane } = ranked.candidate;
      const turn = Math.max(latest.get(ownerLane) ?? 0, ownerTurn(ownerLane, ranked));
      latest.set(ownerLane, turn);
      return { ...ranked, turn };
    })
    .toSorted(
      (a, b) =>
        a.rank - b.rank ||
        bySize(a, b) ||
        a.turn - b.turn ||
        a.score - b.score ||
        (a.rank === ranks.usual ? isOther(a) - isOther(b) : 0) ||
        byPlace(a, b),
    )
    .map(({ candidate }) => candidate);
}

/** Assigns turns: each counts the running and previously assigned executions, divided by the weight of its priority. */
function turnsOf(running: ReadonlyMap<number, number>): (whose: number, next: Ranked) => number {
  const given = new Map(running);
  return (whose, { candidate, rank }) => {
    const turn = (given.get(whose) ?? 0) + 1;
    given.set(whose, turn);
    return rank === ranks.usual ? scoreOfTurn(turn, candidate.priority) : 0;
  };
}

function rankOf(candidate: Candidate, now: Date, overdueAfterMs: number): Rank {
  if (candidate.lane === topLane) return ranks.top;
  if (candidate.lane === lastLane) return ranks.last;
  return isOverdue(candidate, now, overdueAfterMs) ? ranks.overdue : ranks.usual;
}

interface Ranked {
  readonly candidate: Candidate;
  readonly rank: Rank;
}

function byPlace(a: Ranked, b: Ranked): number {
  return a.candidate.place - b.candidate.place;
}

/** Puts the larger size class first, among executions whose size counts. */
function bySize(a: Ranked, b: Ranked): number {
  if (a.rank !== ranks.usual) return 0;
  return b.candidate.sizeClass - a.candidate.sizeClass;
}
