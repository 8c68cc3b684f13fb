/** The state that a server keeps about a class between two looks. */
export interface PoolMemory {
  /** The start of the observation, in ms; all times in this file are in ms. */
  readonly since: number;
  /** The computed number at each look, the latest last. The first may be older than the needed period. */
  readonly wanted: readonly { readonly at: number; readonly count: number }[];
  /** The number of arrivals up to each look. */
  readonly arrived: readonly { readonly at: number; readonly count: number }[];
  readonly lastSeen: number | undefined;
  /** The expected duration of each of the recent executions with an estimate. */
  readonly eachMs: number | undefined;
}

/** Arrivals are counted over this time: long enough for a few, and short enough to end soon after a burst. */
const arrivalWindowMs = 5 * 60_000;
/** The minimum time for a meaningful rate. */
const leastWindowMs = 60_000;

export function newPoolMemory(at: number): PoolMemory {
  return { since: at, wanted: [], arrived: [], lastSeen: undefined, eachMs: undefined };
}

/** Records the number of all executions that wait, run or have finished: arrivals increase it. */
export function noteSeen(
  memory: PoolMemory,
  {
    at,
    seen,
    eachMs,
  }: { readonly at: number; readonly seen: number; readonly eachMs: number | undefined },
): PoolMemory {
  // A cancelled execution decreases the sum: it is no arrival, and does not cancel one out.
  const more = Math.max(0, seen - (memory.lastSeen ?? seen));
  const arrived = [...memory.arrived, { at, count: (memory.arrived.at(-1)?.count ?? 0) + more }];
  return {
    ...memory,
    arrived: from(arrived, at - arrivalWindowMs),
    lastSeen: seen,
    eachMs: eachMs ?? memory.eachMs,
  };
}

export function noteWanted(
  memory: PoolMemory,
  { at, wanted, keepMs }: { readonly at: number; readonly wanted: number; readonly keepMs: number },
): PoolMemory {
  return { ...memory, wanted: from([...memory.wanted, { at, count: wanted }], at - keepMs) };
}

export function arrivalsPerSecond({ arrived }: PoolMemory): number {
  const [first, last] = [arrived[0], arrived.at(-1)];
  if (first === undefined || last === undefined) return 0;
  return (last.count - first.count) / (Math.max(leastWindowMs, last.at - first.at) / 1_000);
}

export function mostWanted({ wanted }: PoolMemory): number {
  return wanted.reduce((most, { count }) => Math.max(most, count), 0);
}

/** Returns the entries from the last one before a time on; that entry shows the state at that time. */
function from<T extends { readonly at: number }>(all: readonly T[], time: number): readonly T[] {
  return all.slice(
    Math.max(
      0,
      all.findLastIndex(({ at }) => at <= time),
    ),
  );
}
