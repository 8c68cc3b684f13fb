/** One claim's wish, as far as seating goes. */
export interface Seeker {
  readonly instanceId: string;
  /** Executions at most. */
  readonly most: number;
  /** The lane of what it was handed last; undefined where nobody knows. */
  readonly lastLane: number | undefined;
}

/** What is to be taken, as far as seating goes. */
export interface Taken {
  readonly lane: number;
  /** The worker process that had the last thing like it; undefined where nobody knows. */
  readonly lastHadBy: string | undefined;
}

/**
 * Who takes what: for each thing, in their order, the index of the one who gets it.
 *
 * One thing for each, then a second for each, and so on: what is short is spread. Within such a turn, who had the same
 * job of the commit before gets it again, since most of what it reads is on its disk; then who had something of a lane
 * before. What goes first is decided already, and who is left when things run short is not the lane's matter:
 * so nobody waits longer for it.
 */
export function assignWorkers(
  seekers: readonly Seeker[],
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

/** Assigns each worker once: first those who had its like, then those who come back to a lane, then the others as they came. */
function assignmentTurn(
  seekers: readonly Seeker[],
  things: readonly Taken[],
  free: readonly number[],
): number[] {
  const left = new Set(free);
  const assignments: (number | undefined)[] = things.map(() => undefined);
  const assignmentBy = <Sign>(
    signOf: (seeker: Seeker) => Sign | undefined,
    signOfThing: (thing: Taken) => Sign | undefined,
  ) => {
    const known = new Map<Sign, number[]>();
    for (const index of left) {
      const seeker = seekers[index];
      const sign = seeker && signOf(seeker);
      if (sign !== undefined) known.set(sign, [...(known.get(sign) ?? []), index]);
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
  // Those for whom there is nothing come last: a row that another server took moves all up by one.
  return [...filled, ...others].filter((index) => index !== undefined);
}
