/** The part of a waiting claim that the assignment needs. */
export interface ClaimToAssign {
  readonly instanceId: string;
  /** The highest number of executions. */
  readonly most: number;
  /** The lane of the execution that the worker got last; undefined when unknown. */
  readonly lastLane: number | undefined;
}

/** An execution that can be assigned. */
export interface Taken {
  readonly lane: number;
  /** The worker process that last ran a similar execution; undefined when unknown. */
  readonly lastHadBy: string | undefined;
}

/**
 * Returns for each execution, in their order, the index of the claim that gets it.
 *
 * Each claim gets one execution, then each a second, and so on, so that few executions are spread over the workers. In
 * each such turn, a worker that had the same job of the commit before is preferred, because most inputs are on its
 * disk; then a worker that had an execution of the same lane. The order of executions is decided before, and lanes do
 * not affect which claims get nothing, so no execution waits longer because of this.
 */
export function assignWorkers(
  seekers: readonly ClaimToAssign[],
  things: readonly Taken[],
  mostAssignments: number,
): number[] {
  const deepest = Math.max(0, ...seekers.map(({ most }) => most));
  const seated: number[] = [];
  for (let depth = 0; depth < deepest && seated.length < mostAssignments; depth++) {
    const free = seekers.flatMap(({ most }, index) => (most > depth ? [index] : []));
    const turn = things.slice(seated.length, seated.length + free.length);
    seated.push(...assignmentTurn(seekers, turn, free));
  }
  return seated.slice(0, mostAssignments);
}

/**
 * Assigns each worker once: first workers that ran a similar execution, then workers that had an execution of the same
 * lane, then the others in the order of their claims.
 */
function assignmentTurn(
  seekers: readonly ClaimToAssign[],
  things: readonly Taken[],
  free: readonly number[],
): number[] {
  const left = new Set(free);
  const assignments: (number | undefined)[] = things.map(() => undefined);
  const assignmentBy = <Sign>(
    signOf: (seeker: ClaimToAssign) => Sign | undefined,
    signOfThing: (thing: Taken) => Sign | undefined,
  ) => {
    const known = new Map<Sign, number[]>();
    for (const index of left) {
      const seeker = seekers[index];
      const sign = seeker && signOf(seeker);
      if (sign === undefined) continue;
      const alike = known.get(sign);
      if (alike === undefined) known.set(sign, [index]);
      else alike.push(index);
    }
    things.forEach((thing, at) => {
      const sign = signOfThing(thing);
      if (assignments[at] !== undefined || sign === undefined) return;
      const index = known.get(sign)?.shift();
      if (index === undefined) return;
      left.delete(index);
      assignments[at] = index;
    });
  };
  assignmentBy(
    ({ instanceId }) => instanceId,
    ({ lastHadBy }) => lastHadBy,
  );
  assignmentBy(
    ({ lastLane }) => lastLane,
    ({ lane }) => lane,
  );
  const others = [...left];
  const filled = assignments.map((index) => index ?? others.shift());
  // Claims without an execution come last: when another server took a row, all later rows move up by one.
  return [...filled, ...others].filter((index) => index !== undefined);
}
