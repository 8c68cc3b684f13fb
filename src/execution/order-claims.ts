import type { ExecutionId } from "./execution.ts";
import { topLane } from "./fair-lane.ts";
import { isOverdue } from "./is-overdue.ts";
import { weightOf } from "./lane-weight.ts";

/** A queued execution that a worker could take. */
export interface Candidate {
  readonly id: ExecutionId;
  readonly sizeClass: number;
  readonly lane: number;
  readonly place: number;
  readonly priority: number;
  readonly queuedAt: Date;
}

/** What else decides who goes first. */
export interface ClaimSituation {
  /** How many of each lane's executions are leased now. */
  readonly busy: ReadonlyMap<number, number>;
  readonly now: Date;
  readonly overdueAfterMs: number;
}

/** The lower goes first, whatever else speaks for the higher. */
const ranks = { top: 0, overdue: 1, usual: 2 } as const;
type Rank = (typeof ranks)[keyof typeof ranks];

/**
 * The order in which a worker takes candidates.
 *
 * The top class first; then what is overdue; both by place. Then the worker's own size class, or the
 * big machine would be busy with small things. Then by turns between lanes: each next thing of
 * a lane counts all that the lane has running, against the weight of its priority. Then by place.
 *
 * What is overdue has left lanes behind, so everything starts at last. Something of priority p, among
 * others of q or more, goes before all that has a later place once it has waited for
 * `overdueAfterMs + delayOfPriorityMs(max(0, p) - min(0, q))`: 15 minutes among usual ones, 55½ hours
 * and 15 minutes at the outermost priorities. Why: whatever has an earlier place was queued no
 * later than the difference in priority after it, and is by then overdue itself, so it does not
 * hide what waits behind it in its lane. Only the top class, and what has an earlier place, is still ahead.
 */
export function orderClaims(
  candidates: readonly Candidate[],
  situation: ClaimSituation,
): Candidate[] {
  const { now, overdueAfterMs } = situation;
  const taken = new Map(situation.busy);
  return candidates
    .map((candidate) => ({ candidate, rank: rankOf(candidate, now, overdueAfterMs) }))
    .toSorted((a, b) => a.rank - b.rank || bySize(a, b) || a.candidate.place - b.candidate.place)
    .map(({ candidate, rank }) => {
      const turn = (taken.get(candidate.lane) ?? 0) + 1;
      taken.set(candidate.lane, turn);
      const score = rank === ranks.usual ? turn / weightOf(candidate.priority) : 0;
      return { candidate, rank, score };
    })
    .toSorted(
      (a, b) =>
        a.rank - b.rank ||
        bySize(a, b) ||
        a.score - b.score ||
        a.candidate.place - b.candidate.place,
    )
    .map(({ candidate }) => candidate);
}

function rankOf(candidate: Candidate, now: Date, overdueAfterMs: number): Rank {
  if (candidate.lane === topLane) return ranks.top;
  return isOverdue(candidate, now, overdueAfterMs) ? ranks.overdue : ranks.usual;
}

interface Ranked {
  readonly candidate: Candidate;
  readonly rank: Rank;
}

/** The greater size class first, among those whose size counts. */
function bySize(a: Ranked, b: Ranked): number {
  if (a.rank !== ranks.usual) return 0;
  return b.candidate.sizeClass - a.candidate.sizeClass;
}
