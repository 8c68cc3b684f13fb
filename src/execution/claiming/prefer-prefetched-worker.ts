import type { ExecutionId } from "../execution.ts";

/** The properties that decide whether two executions may change places. */
interface Waiting {
  readonly id: ExecutionId;
  readonly lane: number;
  readonly priority: number;
  readonly sizeClass: number;
}

/** The highest number of positions by which an execution may move forward. */
const within = 16;

/**
 * Returns executions in their order, except that workers get those whose inputs they have prefetched.
 *
 * Only neighbours of one lane and priority change places, and only among those that are not `fixed`. So the share of
 * each lane is unchanged, and after a while every execution is available to all workers again (`keptFor`).
 */
export function preferPrefetchedWorker<Candidate extends Waiting>(
  ordered: readonly Candidate[],
  assignments: number,
  claiming: ReadonlySet<string>,
  keptFor: (id: ExecutionId) => string | undefined,
  isFixed: (candidate: Candidate) => boolean,
): Candidate[] {
  const placed = [...ordered];
  for (let i = 0; i < Math.min(assignments, placed.length); i++) {
    const first = placed[i];
    if (first === undefined || isFixed(first)) continue;
    const owner = keptFor(first.id);
    if (owner !== undefined && claiming.has(owner)) continue;
    let better = -1;
    for (let j = i + 1; j <= Math.min(i + within, placed.length - 1); j++) {
      const other = placed[j];
      if (other === undefined || isFixed(other) || !isAlike(first, other)) continue;
      const whose = keptFor(other.id);
      const isTheirs = whose !== undefined && claiming.has(whose);
      // An execution that is reserved for another worker changes places with one that is not reserved.
      if (isTheirs || (better < 0 && owner !== undefined && whose === undefined)) better = j;
      if (isTheirs) break;
    }
    const other = placed[better];
    if (other === undefined) continue;
    placed[i] = other;
    placed[better] = first;
  }
  return placed;
}

function isAlike(one: Waiting, other: Waiting): boolean {
  return (
    one.lane === other.lane && one.priority === other.priority && one.sizeClass === other.sizeClass
  );
}

/** Lets the workers of one round exchange executions, so that each gets those that are reserved for it. */
export function swapAssignments<Assignment extends { readonly instanceId: string }>(
  assignments: readonly Assignment[],
  ids: readonly ExecutionId[],
  keptFor: (id: ExecutionId) => string | undefined,
): Assignment[] {
  const seated = [...assignments];
  const keeper = (i: number) => (ids[i] === undefined ? undefined : keptFor(ids[i]));
  for (let i = 0; i < seated.length; i++) {
    const owner = keeper(i);
    if (owner === undefined || seated[i]?.instanceId === owner) continue;
    const j = seated.findIndex(
      (assignment, at) => assignment.instanceId === owner && keeper(at) !== owner,
    );
    const [mine, theirs] = [seated[i], seated[j]];
    if (mine === undefined || theirs === undefined) continue;
    seated[i] = theirs;
    seated[j] = mine;
  }
  return seated;
}
