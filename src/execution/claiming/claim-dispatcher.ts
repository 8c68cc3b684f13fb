import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { IdleState } from "#core/idle-state.ts";
import { startPacedTimer } from "#core/paced-timer.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { Db, Tx } from "#db/db.ts";
import { withCommit } from "#db/with-commit.ts";
import type { LeasedExecution } from "../leasing/lease.ts";
import type { LeasesHere } from "../leasing/leases-here.ts";
import type { RegisteredWorker } from "../leasing/worker.store.ts";
import { type QueueTransactions, queueTransactions } from "../queue-transactions.ts";
import type { AnnouncedExecutions } from "../submitting/announced-executions.ts";
import { claimRound, type HandedBefore, kindOf, lookAhead } from "./claim-round.ts";
import { nextRoundState, type RoundState } from "./claim-state.ts";
import { type Look, RecentLooks } from "./recent-looks.ts";
import { spreadWaitMs } from "./spread-wait.ts";
import { type WaitingClaim, WaitingClaims } from "./waiting-claims.ts";

interface Claim {
  readonly worker: RegisteredWorker;
  /** The highest number of executions. */
  readonly most: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** The worker accepts nothing now. It waits here only to avoid constant calls. */
  readonly isResting?: boolean;
  /** `generation` when the row of the worker was read. If they differ, the row may be out of date. */
  readonly asOf?: number;
}

/** The waiting claims of a server. */
export interface ClaimDispatcher extends QueueTransactions {
  /** Waits for work; returns an empty list after the waiting time. */
  claim(claim: Claim): Promise<LeasedExecution[]>;
  /** Looks for work, if a claim waits. Notifications that this dispatcher sent itself (`by`) are ignored. */
  wake(by?: string): void;
  /** Ends all waiting claims without work, so that their workers claim again and their rows are read again. */
  cancelWaiting(): void;
  /** Ends the waiting claims of these worker processes without work. A process that still listens claims again. */
  dismiss(instanceIds: ReadonlySet<string>): void;
  /** Returns the number of calls of `cancelWaiting`. */
  generation(): number;
  /** Returns the lane of the execution that a worker process got last from this server. */
  lastLaneOf(instanceId: string): number | undefined;
  stop(): Promise<void>;
}

/** The number of worker processes whose last execution is remembered. */
const mostRemembered = 10_000;
/** The number of kinds of work whose last worker is remembered, at 150 bytes each. */
const mostAlike = 50_000;

/**
 * Assigns executions to the claims that wait on this server.
 *
 * One round at a time serves all claims: claims do not compete for the same rows, and a thousand idle workers cost only
 * as much as one worker of each kind. `claim-state.ts` lists the states of a claim and of the rounds.
 */
export function claimDispatcher(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly leaseMs: number;
  readonly overdueAfterMs: number;
  /** How late a claim finds work if every wake-up is lost. */
  readonly pollMs: number;
  readonly idle?: IdleState | undefined;
  /** The executions that were announced to workers. */
  readonly announced?: AnnouncedExecutions;
  /** Remembers the leases that are handed out. */
  readonly leases?: LeasesHere;
  /** Returns executions to the queue that were leased for a worker that had gone. */
  readonly giveBack: (leased: readonly LeasedExecution[]) => void;
}): ClaimDispatcher {
  const name = randomUUID();
  const claims = new WaitingClaims(parts.giveBack);
  const before: HandedBefore = {
    lanes: recentlyUsed<number>(mostRemembered),
    alike: recentlyUsed<string>(mostAlike),
  };
  const looks = new RecentLooks();
  let generation = 0;
  let round: RoundState = "idle";
  let rounds: Promise<void> | undefined;
  const endPoll = startPacedTimer(parts.pollMs, parts.idle, () => wake());
  const busy = parts.idle?.onBusy(() => wake());

  const serve = (tx: Tx, served: readonly WaitingClaim[], early: Look | undefined) => {
    const now = parts.clock.now();
    const until = new Date(now.getTime() + parts.leaseMs);
    const { overdueAfterMs, announced, leases } = parts;
    const lease = { now, until, overdueAfterMs, announced, leases, looks };
    return claimRound(tx, served, before, lease, early);
  };

  const serveOnce = async (served: readonly WaitingClaim[]) => {
    try {
      const { over, asOf } = await parts.db.transaction(async (tx) => {
        const asOf = claims.changes;
        const { over } = await serve(tx, served, undefined);
        await withCommit(tx, over);
        return { over, asOf };
      });
      const { exhausted, leasedPerClaim, hasMore } = await over;
      claims.nothingFor(exhausted, asOf);
      claims.served(served, leasedPerClaim);
      if (hasMore) round = nextRoundState(round, "asked");
    } catch (reason) {
      // The claims continue to wait; the next wake-up or poll retries.
      parts.logger.warn({ reason: messageOf(reason) }, "could not look for work");
      claims.served(served, []);
    }
  };

  const runRounds = async () => {
    await Promise.resolve();
    while (round === "due") {
      const served = claims.take("that-may-find");
      round = nextRoundState(round, served.length === 0 ? "nobody-to-serve" : "begun");
      if (served.length === 0) break;
      await serveOnce(served);
      round = nextRoundState(round, "ended");
    }
    rounds = undefined;
  };

  const ask = () => {
    if (claims.size === 0) return;
    round = nextRoundState(round, "asked");
    if (round === "due") rounds ??= runRounds();
  };

  const wake = (by?: string) => {
    if (by === name) return;
    claims.queueChanged();
    ask();
  };

  const transactions = queueTransactions(parts.db, {
    name,
    claims,
    serve,
    lookEarly: lookAhead,
    isRoundDue: () => round === "due" || round === "owed",
    ask,
  });

  return {
    ...transactions,
    wake,
    generation: () => generation,
    lastLaneOf: (instanceId) => before.lanes.peek(instanceId),

    cancelWaiting() {
      generation++;
      claims.allEnded("cancelled");
    },

    dismiss(instanceIds) {
      claims.allEnded("left", ({ worker }) => instanceIds.has(worker.instanceId));
    },

    claim({ worker, most, waitMs, signal, isResting = false, asOf = generation }) {
      if (round === "stopped") throw new Fault("unavailable", "the server is stopping");
      return new Promise((resolve) => {
        const leave = () => claims.ended(claim, "left");
        const over = () => claims.ended(claim, "wait-over");
        const timer = setTimeout(over, spreadWaitMs(waitMs, Math.random()));
        const claim: WaitingClaim = {
          worker,
          kind: kindOf(worker),
          most,
          state: { kind: isResting ? "resting" : "waiting" },
          answer(leased) {
            clearTimeout(timer);
            signal.removeEventListener("abort", leave);
            resolve(leased);
          },
        };
        claims.add(claim);
        if (signal.aborted || asOf !== generation) leave();
        else {
          signal.addEventListener("abort", leave, { once: true });
          if (claims.mayFind(claim.kind)) ask();
        }
      });
    },

    async stop() {
      round = nextRoundState(round, "stopped");
      endPoll();
      busy?.stop();
      await rounds;
      claims.allEnded("left");
    },
  };
}
