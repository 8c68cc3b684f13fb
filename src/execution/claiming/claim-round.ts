import { platformKey } from "#core/platform.ts";
import type { RecentlyUsed } from "#core/recently-used.ts";
import type { Tx } from "#db/db.ts";
import { together } from "#db/together.ts";
import type { ExecutionId } from "../execution.ts";
import type { LeasedExecution } from "../leasing/lease.ts";
import type { LeasesHere } from "../leasing/leases-here.ts";
import type { RegisteredWorker } from "../leasing/worker.store.ts";
import type { AnnouncedExecutions } from "../submitting/announced-executions.ts";
import { assignWorkers } from "./assign-workers.ts";
import { claimCandidates, leasedByLane, leaseExecutions } from "./claim-executions.store.ts";
import { imagesOf } from "./execution-images.store.ts";
import { topLane } from "./fair-lane.ts";
import { isOverdue } from "./is-overdue.ts";
import { type Candidate, orderClaims } from "./order-claims.ts";
import { workersByImage } from "./prefer-images.ts";
import { preferIndexes, preferKnownPlans } from "./prefer-indexes.store.ts";
import { preferPrefetchedWorker, swapAssignments } from "./prefer-prefetched-worker.ts";
import type { Look, RecentLooks } from "./recent-looks.ts";

/** Executions handed out by one statement at most. */
const mostPerRound = 500;
/** An execution that waits longer is no longer passed over for one whose worker has its inputs or its image. */
const mostPassedOverMs = 10_000;

/** Additional candidates, because another server may lease some meanwhile. */
const spare = 32;

interface ClaimingWorker {
  readonly worker: RegisteredWorker;
  /** The kind of the worker, by `kindOf`. */
  readonly kind: string;
  readonly most: number;
}

/** The executions that workers got before, as far as this server remembers. */
export interface HandedBefore {
  /** By worker process, the lane of the execution that it got last. */
  readonly lanes: RecentlyUsed<number>;
  /** By `similarityKey`, the worker process that had a similar execution last. */
  readonly alike: RecentlyUsed<string>;
}

export interface Round {
  /** In the order of the claims. */
  readonly leasedPerClaim: readonly LeasedExecution[][];
  /** Whether more work may be available at once. */
  readonly hasMore: boolean;
  /** Kinds of workers without remaining work, by `kindOf`. */
  readonly exhausted: readonly string[];
}

/**
 * At most this many candidates mean that there are no more: if there were more, even few lanes would return twice as
 * many.
 */
const fewCandidates = 8;

/** Returns the kind of a worker; workers of one kind get the same candidates. */
export function kindOf({ sizeClass, platform }: RegisteredWorker): string {
  return `${sizeClass} ${platformKey(platform)}`;
}

/** Looks up the candidates of the claims that choose first, before their round. */
export async function lookAhead(
  tx: Tx,
  claims: readonly ClaimingWorker[],
): Promise<Look | undefined> {
  const [group] = groupsOf(claims);
  if (group === undefined) return undefined;
  await preferIndexes(tx);
  return look(tx, group);
}

/**
 * Serves all claims that wait at a server, in one transaction.
 *
 * Workers of one kind share a statement. Smaller size classes choose first, so that a big machine does not take work
 * that a small one could do.
 *
 * Resolves when the last statement is sent: its answer may come with that of the commit.
 */
export async function claimRound(
  tx: Tx,
  claims: readonly ClaimingWorker[],
  before: HandedBefore,
  lease: {
    readonly now: Date;
    readonly until: Date;
    readonly overdueAfterMs: number;
    readonly announced?: AnnouncedExecutions | undefined;
    readonly leases?: LeasesHere | undefined;
    readonly looks: RecentLooks;
  },
  ahead?: Look,
): Promise<{ readonly over: Promise<Round> }> {
  const leasedPerClaim: LeasedExecution[][] = claims.map(() => []);
  const exhausted: string[] = [];
  let hasMore = false;
  let handingOut = Promise.resolve();
  await preferIndexes(tx);
  for (const [nth, group] of groupsOf(claims).entries()) {
    await handingOut;
    const [first] = group;
    if (first === undefined) continue;
    const { kind } = first.claim;
    const assignmentCount = assignmentsOf(group);
    const early = nth === 0 ? ahead : undefined;
    const needed = 2 * assignmentCount + spare;
    const left = early ? undefined : lease.looks.find(kind, lease.now, needed);
    const { candidates, busy } = left ?? early ?? (await look(tx, group));
    if (left === undefined) lease.looks.keep(kind, { candidates, busy }, lease.now);
    if (candidates.length === 0) {
      exhausted.push(kind);
      continue;
    }
    const seekers = group.map(({ claim: { worker, most } }) => ({
      instanceId: worker.instanceId,
      most,
      lastLane: before.lanes.peek(worker.instanceId),
    }));
    // When several workers choose at once, each finds its own executions among the first ones.
    const [alone, ...more] = seekers;
    const preferredLane = more.length === 0 ? alone?.lastLane : undefined;
    const inOrder = orderClaims(candidates, { ...lease, busy, preferredLane }).slice(0, needed);
    const keptFor = await keepers(tx, inOrder, group, lease.announced);
    const ordered = keptFor ? forKeepers(inOrder, group, lease, keptFor) : inOrder;
    const { sizeClass } = first.claim.worker;
    const laneById = new Map(ordered.map(({ id, lane }) => [id, lane]));
    const assignments = assignWorkers(
      seekers,
      ordered.map(({ lane, similarityKey }) => ({
        lane,
        lastHadBy: typeof similarityKey === "string" ? before.alike.peek(similarityKey) : undefined,
      })),
      mostPerRound,
    ).flatMap((index) => group[index]?.claim.worker ?? []);
    const ids = ordered.map(({ id }) => id);
    const seated = keptFor ? swapAssignments(assignments, ids, keptFor) : assignments;
    // Thousands of workers may wait for a few executions.
    const taking = seated.slice(0, ids.length);
    lease.looks.chosen(kind, ordered.slice(0, taking.length));
    const indexOf = new Map(group.map(({ claim, index }) => [claim.worker.instanceId, index]));
    handingOut = leaseExecutions(tx, ids, taking, lease.now, lease.until).then((handedOut) => {
      for (const { instanceId, execution, row } of handedOut) {
        lease.leases?.handedOut(row, sizeClass);
        leasedPerClaim[indexOf.get(instanceId) ?? -1]?.push(execution);
        const lane = laneById.get(execution.lease.executionId);
        if (lane !== undefined) before.lanes.set(instanceId, lane);
        const [similarityKey] = row.similarityKeys;
        if (similarityKey !== undefined) before.alike.set(similarityKey, instanceId);
      }
      const isFewer = handedOut.length < Math.min(assignments.length, candidates.length);
      if (isFewer) lease.looks.forget(kind);
      hasMore ||= handedOut.length === mostPerRound || isFewer;
      if (handedOut.length === candidates.length && candidates.length <= fewCandidates)
        exhausted.push(kind);
    });
    // The error is handled where the end of the round is awaited.
    handingOut.catch(() => {});
  }
  return { over: handingOut.then(() => ({ leasedPerClaim, hasMore, exhausted })) };
}

/**
 * Returns for each execution the worker that should get it: the one that prefetches its inputs, or one that has its
 * container image. Undefined when there is no such worker for any execution.
 */
async function keepers(
  tx: Tx,
  ordered: readonly Candidate[],
  group: readonly Placed[],
  allAnnounced: AnnouncedExecutions | undefined,
): Promise<((id: ExecutionId) => string | undefined) | undefined> {
  const announced = allAnnounced?.isEmpty() === false ? allAnnounced : undefined;
  if (group.every(({ claim }) => claim.worker.images.length === 0))
    return announced && ((id) => announced.keptFor(id));
  const claiming = group.map(({ claim: { worker, most } }) => ({ ...worker, most }));
  const ids = ordered.map(({ id }) => id);
  const byImage = workersByImage(ids, await imagesOf(tx, ids), claiming);
  return (id) => announced?.keptFor(id) ?? byImage(id);
}

function forKeepers(
  ordered: readonly Candidate[],
  group: readonly Placed[],
  { now, overdueAfterMs }: { readonly now: Date; readonly overdueAfterMs: number },
  keptFor: (id: ExecutionId) => string | undefined,
): Candidate[] {
  const claiming = new Set(group.map(({ claim }) => claim.worker.instanceId));
  // The order of the top class and of overdue executions is by place alone.
  const isFixed = (candidate: Candidate) =>
    candidate.lane === topLane ||
    isOverdue(candidate, now, overdueAfterMs) ||
    now.getTime() - candidate.queuedAt.getTime() > mostPassedOverMs;
  return preferPrefetchedWorker(ordered, assignmentsOf(group), claiming, keptFor, isFixed);
}

/** Both are queried at the same time, although the second is not needed when the first finds nothing. */
async function look(tx: Tx, group: readonly Placed[]): Promise<Look> {
  const [first] = group;
  if (first === undefined) return { candidates: [], busy: { lanes: new Map(), owners: new Map() } };
  await preferKnownPlans(tx);
  const [candidates, busy] = await together([
    claimCandidates(tx, first.claim.worker, assignmentsOf(group), spare),
    leasedByLane(tx),
  ]);
  return { candidates, busy };
}

function assignmentsOf(group: readonly Placed[]): number {
  return Math.min(
    mostPerRound,
    group.reduce((sum, { claim }) => sum + claim.most, 0),
  );
}

interface Placed {
  readonly claim: ClaimingWorker;
  readonly index: number;
}

function groupsOf(claims: readonly ClaimingWorker[]): Placed[][] {
  const groups = new Map<string, Placed[]>();
  claims.forEach((claim, index) => {
    const group = groups.get(claim.kind) ?? [];
    groups.set(claim.kind, group);
    group.push({ claim, index });
  });
  return [...groups.values()].toSorted(
    ([a], [b]) => (a?.claim.worker.sizeClass ?? 0) - (b?.claim.worker.sizeClass ?? 0),
  );
}
