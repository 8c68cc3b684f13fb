import type { Clock } from "#core/clock.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import type { Platform } from "#core/platform.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { Db } from "#db/db.ts";
import type { RegisteredWorker } from "../leasing/worker.store.ts";
import type { AnnouncedExecutions } from "../submitting/announced-executions.ts";
import { queuedActions } from "../submitting/queued-actions.store.ts";
import { claimCandidates } from "./claim-executions.store.ts";
import { kindOf } from "./claim-round.ts";
import { isServedBy } from "./is-served-by.ts";
import { type Candidate, orderClaims } from "./order-claims.ts";
import { shareAhead } from "./share-ahead.ts";

/** An execution that a worker will probably get. */
export interface AheadExecution {
  readonly project: string;
  readonly actionDigest: Digest;
}

/** An action that is similar to one that will be requested soon. */
export interface AheadHint extends AheadExecution {
  readonly platform: Platform;
  readonly sizeClass: number;
}

/** How long hints are kept, in ms. Inputs of older hints are fetched by the worker that needs them. */
const hintForMs = 30_000;
const mostHints = 64;

/** How long one query of the queue is reused for all workers of a kind, in ms. */
const goodForMs = 1_000;
/** The most waiting executions that are distributed to the workers of a kind between two queries. */
const mostSeen = 64;
const mostKinds = 200;

type Waiting = Candidate & AheadExecution;

/**
 * Tells workers which executions they will probably get next.
 *
 * Separate from claims, which it must not slow down: it reads the queue once a second for each kind of worker that
 * calls, outside of their transactions. Two workers are not told about the same execution.
 */
export function lookAheadService(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly overdueAfterMs: number;
  readonly lastLaneOf: (instanceId: string) => number | undefined;
  readonly announced: AnnouncedExecutions;
}) {
  const seen = recentlyUsed<{ readonly at: number; readonly waiting: Promise<Waiting[]> }>(
    mostKinds,
  );

  let hints: readonly (AheadHint & { readonly until: number })[] = [];

  const hintsFor = (worker: RegisteredWorker, now: number): AheadHint[] => {
    hints = hints.filter(({ until }) => until > now);
    const { platform, instanceId } = worker;
    return hints.filter(({ sizeClass, platform: requirements, actionDigest }) => {
      const owner = parts.announced.peek(digestKey(actionDigest)) ?? instanceId;
      return (
        owner === instanceId &&
        isServedBy({ requirements, sizeClass }, { platform, sizeClass: worker.sizeClass })
      );
    });
  };

  const look = async (worker: RegisteredWorker): Promise<Waiting[]> => {
    const candidates = await claimCandidates(parts.db, worker, mostSeen, 0);
    const ordered = orderClaims(candidates, {
      // The counts of running executions will have changed by then.
      busy: { lanes: new Map(), owners: new Map() },
      now: parts.clock.now(),
      overdueAfterMs: parts.overdueAfterMs,
    }).slice(0, mostSeen);
    const actions = await queuedActions(
      parts.db,
      ordered.map(({ id }) => id),
    );
    return ordered.flatMap((candidate) => {
      const action = actions.get(candidate.id);
      return action === undefined ? [] : [{ ...candidate, ...action }];
    });
  };

  return {
    async ahead(worker: RegisteredWorker, most: number): Promise<AheadExecution[]> {
      const kind = kindOf(worker);
      const now = parts.clock.now().getTime();
      let known = seen.peek(kind);
      if (known === undefined || now - known.at >= goodForMs) {
        known = { at: now, waiting: look(worker) };
        seen.set(kind, known);
      }
      const waiting = await known.waiting;
      const { instanceId } = worker;
      const asks = { instanceId, lane: parts.lastLaneOf(instanceId), most };
      const shared = shareAhead(waiting, asks, parts.announced);
      for (const { id } of shared) parts.announced.add(id, instanceId);
      // A waiting execution is certain; a hint about similar executions is not.
      const hinted = hintsFor(worker, now).slice(0, most - shared.length);
      for (const { actionDigest } of hinted)
        parts.announced.add(digestKey(actionDigest), instanceId);
      return [...shared, ...hinted];
    },

    /** Stores a hint, for workers that have nothing more certain to prefetch. */
    hint(hint: AheadHint): void {
      const until = parts.clock.now().getTime() + hintForMs;
      hints = [{ ...hint, until }, ...hints].slice(0, mostHints);
    },
  };
}
