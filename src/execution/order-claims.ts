import type { ExecutionId } from "./execution.ts";

/** A queued execution that a worker could take. */
export interface Candidate {
  readonly id: ExecutionId;
  readonly sizeClass: number;
  readonly lane: number;
  readonly place: number;
  readonly priority: number;
}

/**
 * The order in which a worker takes candidates.
 *
 * Its own size class first, or the big machine would be busy with small things. Then by turns between lanes:
 * each next thing of a lane counts all that the lane has running, and 100 steps of priority halve or
 * double a lane's share (Buildbarn's rule). Then by place.
 */
export function orderClaims(
  candidates: readonly Candidate[],
  /** How many of each lane's executions are leased now. */
  busy: ReadonlyMap<number, number>,
): Candidate[] {
  const taken = new Map(busy);
  return candidates
    .toSorted((a, b) => b.sizeClass - a.sizeClass || a.place - b.place)
    .map((candidate) => {
      const turn = (taken.get(candidate.lane) ?? 0) + 1;
      taken.set(candidate.lane, turn);
      return { candidate, score: turn * 2 ** (candidate.priority / 100) };
    })
    .toSorted(
      (a, b) =>
        b.candidate.sizeClass - a.candidate.sizeClass ||
        a.score - b.score ||
        a.candidate.place - b.candidate.place,
    )
    .map(({ candidate }) => candidate);
}
