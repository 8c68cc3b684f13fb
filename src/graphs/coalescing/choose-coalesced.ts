/** A waiting job with this key. */
export interface WaitingOfKey {
  readonly graphId: string;
  readonly job: string;
  /** The date of its commit, in ms since 1970: an older commit that is submitted again does not become newer. */
  readonly committedMs: number;
  /** Later submitted graphs have higher numbers. */
  readonly graphNumber: number;
  readonly waitedMs: number;
  /** From its definition: how many jobs must wait before it, and for how long. */
  readonly minDepth: number;
  readonly minAgeMs: number;
}

interface Coalescing<Job extends WaitingOfKey> {
  /** The job whose run stands for the others. */
  readonly into: Job;
  readonly older: readonly Job[];
}

/**
 * Decides which of the waiting jobs of one repository, branch and key are coalesced into another one.
 *
 * The newest stands for those that have waited long enough, if there are enough of them; the limits are those of its
 * own definition. Jobs of its own graph do not count, because they are of the same commit.
 */
export function chooseCoalesced<Job extends WaitingOfKey>(
  waiting: readonly Job[],
): Coalescing<Job> | undefined {
  const [into, ...others] = waiting.toSorted(
    (a, b) => b.committedMs - a.committedMs || b.graphNumber - a.graphNumber,
  );
  if (into === undefined) return undefined;
  const older = others.filter(
    ({ graphId, waitedMs }) => graphId !== into.graphId && waitedMs >= into.minAgeMs,
  );
  return older.length >= into.minDepth ? { into, older } : undefined;
}
