import { platformKey } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import { claimCandidates, leasedByLane, leaseExecutions } from "./claim-executions.store.ts";
import type { LeasedExecution } from "./lease.ts";
import { orderClaims } from "./order-claims.ts";
import { preferIndexes } from "./prefer-indexes.store.ts";
import type { RegisteredWorker } from "./worker.store.ts";

/** Executions handed out by one statement at most. */
const mostPerRound = 500;
/** Candidates beyond the seats, for those that another server takes meanwhile. */
const spare = 32;

export interface ClaimingWorker {
  readonly worker: RegisteredWorker;
  readonly most: number;
}

export interface Round {
  /** In the order of the claims. */
  readonly haul: readonly LeasedExecution[][];
  /** Whether there may be more to take at once. */
  readonly hasMore: boolean;
}

/**
 * Serves all claims that wait at a server, in one transaction.
 *
 * Workers of one kind share a statement. Smaller size classes choose first, so that
 * a big machine is not busy with what a small one waits for.
 */
export async function claimRound(
  tx: Tx,
  claims: readonly ClaimingWorker[],
  lease: { readonly now: Date; readonly until: Date; readonly overdueAfterMs: number },
): Promise<Round> {
  const haul: LeasedExecution[][] = claims.map(() => []);
  let hasMore = false;
  await preferIndexes(tx);
  for (const group of groupsOf(claims)) {
    const [first] = group;
    if (first === undefined) continue;
    const seats = seatsOf(group);
    const candidates = await claimCandidates(tx, first.claim.worker, seats.length, spare);
    if (candidates.length === 0) continue;
    const busy = await leasedByLane(tx);
    const ordered = orderClaims(candidates, { ...lease, busy }).slice(0, 2 * seats.length + spare);
    const handedOut = await leaseExecutions(
      tx,
      ordered.map(({ id }) => id),
      seats.map(({ claim }) => claim.worker),
      lease.now,
      lease.until,
    );
    const indexOf = new Map(group.map(({ claim, index }) => [claim.worker.instanceId, index]));
    for (const { instanceId, execution } of handedOut)
      haul[indexOf.get(instanceId) ?? -1]?.push(execution);
    hasMore ||=
      handedOut.length === mostPerRound ||
      handedOut.length < Math.min(seats.length, candidates.length);
  }
  return { haul, hasMore };
}

interface Placed {
  readonly claim: ClaimingWorker;
  readonly index: number;
}

function groupsOf(claims: readonly ClaimingWorker[]): Placed[][] {
  const groups = new Map<string, Placed[]>();
  claims.forEach((claim, index) => {
    const key = `${claim.worker.sizeClass} ${platformKey(claim.worker.platform)}`;
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push({ claim, index });
  });
  return [...groups.values()].toSorted(
    ([a], [b]) => (a?.claim.worker.sizeClass ?? 0) - (b?.claim.worker.sizeClass ?? 0),
  );
}

/** One seat for each worker, then a second for each, and so on: what is short is spread. */
function seatsOf(group: readonly Placed[]): Placed[] {
  const deepest = Math.max(...group.map(({ claim }) => claim.most));
  const seats: Placed[] = [];
  for (let depth = 0; depth < deepest && seats.length < mostPerRound; depth++)
    seats.push(...group.filter(({ claim }) => claim.most > depth));
  return seats.slice(0, mostPerRound);
}
