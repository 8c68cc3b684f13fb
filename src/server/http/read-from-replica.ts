import type { Db } from "#db/db.ts";
import type { ReadReplicas } from "#db/read-replicas.ts";

/** How many answers were read from where, of those that clients accepted from a replica. */
export interface ReplicaReads {
  replica: number;
  /** No replica was recent enough. */
  primary: number;
  /** The replica failed or had no such object, and the primary was read then. */
  repeated: number;
}

/** The databases from which answers are read. */
export interface Reading {
  readonly primary: Db;
  readonly replicas: Pick<ReadReplicas, "choose">;
  readonly reads: ReplicaReads;
}

/** Clients do not profit from older answers; each replica that is further behind has a problem. */
const mostSeconds = 3_600;

/**
 * Returns how old an answer the client accepts, in ms: `max-stale=5` of the request's Cache-Control (RFC 9111, section
 * 5.2.1.2) are 5,000. 0 for everything else, such as `no-cache`, and `max-stale` without a number.
 */
export function acceptedAgeMs(cacheControl: string | undefined): number {
  const directives = (cacheControl ?? "").toLowerCase().split(",");
  const given = directives.flatMap((each) => {
    const digits = /^\s*max-stale="?(\d{1,9})"?\s*$/.exec(each)?.[1];
    return digits === undefined ? [] : [Number(digits)];
  });
  const [seconds] = given;
  const isStrict = directives.some((each) => /^\s*(no-cache|no-store)\s*$/.test(each));
  if (seconds === undefined || given.length > 1 || isStrict) return 0;
  return Math.min(seconds, mostSeconds) * 1_000;
}

/**
 * Reads an answer from a replica when one is recent enough, else from the primary.
 *
 * What fails at the replica is read from the primary: the replica may be gone, cancel the statement, or lack a new
 * object. So `read` must have no effects.
 */
export async function readFromReplica<T>(
  { primary, replicas, reads }: Reading,
  mostAgeMs: number,
  read: (db: Db) => T | Promise<T>,
): Promise<T> {
  if (mostAgeMs === 0) return read(primary);
  const replica = replicas.choose(mostAgeMs);
  if (replica === undefined) {
    reads.primary++;
    return read(primary);
  }
  try {
    const answer = await read(replica);
    reads.replica++;
    return answer;
  } catch {
    reads.repeated++;
    return read(primary);
  }
}
