import { platformKey } from "#core/platform.ts";
import type { RecentlyUsed } from "#core/recently-used.ts";
import type { Tx } from "#db/db.ts";
import { claimCandidates, leasedByLane, leaseExecutions } from "./claim-executions.store.ts";
import type { LeasedExecution } from "./lease.ts";
import { orderClaims } from "./order-claims.ts";
import { preferIndexes } from "./prefer-indexes.store.ts";
import { seatWorkers } from "./seat-workers.ts";
import type { RegisteredWorker } from "./worker.store.ts";

/** Executions handed out by one statement at most. */
const mostPerRound = 500;
/** Candidates beyond the seats, for those that another server takes meanwhile. */
const spare = 32;

export interface ClaimingWorker {
  readonly worker: RegisteredWorker;
  readonly most: number;
}

/** What each worker process was handed last, by lane. */
export type LastLanes = RecentlyUsed<number>;

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
  lastLanes: LastLanes,
  lease: { readonly now: Date; readonly until: Date; readonly overdueAfterMs: number },
): Promise<Round> {
  const haul: LeasedExecution[][] = claims.map(() => []);
  let hasMore = false;
  await preferIndexes(tx);
  for (const group of groupsOf(claims)) {
    const [first] = group;
    if (first === undefined) continue;
    const seekers = group.map(({ claim: { worker, most } }) => ({
      most,
      lastLane: lastLanes.peek(worker.instanceId),
    }));
    const seatCount = Math.min(
      mostPerRound,
      seekers.reduce((sum, { most }) => sum + most, 0),
    );
    const candidates = await claimCandidates(tx, first.claim.worker, seatCount, spare);
    if (candidates.length === 0) continue;
    const busy = await leasedByLane(tx);
    // Where several choose at once, each finds its own among what goes first.
    const [alone, ...more] = seekers;
    const preferredLane = more.length === 0 ? alone?.lastLane : undefined;
    const ordered = orderClaims(candidates, { ...lease, busy, preferredLane }).slice(
      0,
      2 * seatCount + spare,
    );
    const laneById = new Map(ordered.map(({ id, lane }) => [id, lane]));
    const seats = seatWorkers(
      seekers,
      ordered.map(({ lane }) => lane),
      mostPerRound,
    ).flatMap((index) => group[index]?.claim.worker ?? []);
    const handedOut = await leaseExecutions(
      tx,
      ordered.map(({ id }) => id),
      seats,
      lease.now,
      lease.until,
    );
    const indexOf = new Map(group.map(({ claim, index }) => [claim.worker.instanceId, index]));
    for (const { instanceId, execution } of handedOut) {
      haul[indexOf.get(instanceId) ?? -1]?.push(execution);
      const lane = laneById.get(execution.lease.executionId);
      if (lane !== undefined) lastLanes.set(instanceId, lane);
    }
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
