/** One claim's wish, as far as seating goes. */
export interface Seeker {
  /** Executions at most. */
  readonly most: number;
  /** The lane of what it was handed last; undefined where nobody knows. */
  readonly lastLane: number | undefined;
}

/**
 * Who takes what: for each thing, in their order, the index of the one who gets it.
 *
 * One thing for each, then a second for each, and so on: what is short is spread. Within such a turn, who
 * had something of a lane before gets it again, since what that lane needs is on its disk. What
 * goes first is decided already, and who is left when things run short is not the lane's matter:
 * so nobody waits longer for it.
 */
export function seatWorkers(
  seekers: readonly Seeker[],
  lanes: readonly number[],
  mostSeats: number,
): number[] {
  const deepest = Math.max(0, ...seekers.map(({ most }) => most));
  const seated: number[] = [];
  for (let depth = 0; depth < deepest && seated.length < mostSeats; depth++) {
    const free = seekers.flatMap(({ most }, index) => (most > depth ? [index] : []));
    const turn = lanes.slice(seated.length, seated.length + free.length);
    seated.push(...seatTurn(seekers, turn, free));
  }
  return seated.slice(0, mostSeats);
}

/** Seats everybody once: first those who come back to a lane, then the others as they came. */
function seatTurn(
  seekers: readonly Seeker[],
  lanes: readonly number[],
  free: readonly number[],
): number[] {
  const left = new Set(free);
  const returning = new Map<number, number[]>();
  for (const index of free) {
    const lane = seekers[index]?.lastLane;
    if (lane !== undefined) returning.set(lane, [...(returning.get(lane) ?? []), index]);
  }
  const seats = lanes.map((lane) => {
    const index = returning.get(lane)?.shift();
    if (index !== undefined) left.delete(index);
    return index;
  });
  const others = [...left];
  const filled = seats.map((index) => index ?? others.shift());
  // Those for whom there is nothing come last: a row that another server took moves all up by one.
  return [...filled, ...others].filter((index) => index !== undefined);
}
