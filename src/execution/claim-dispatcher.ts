import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { IdleState } from "#core/idle-state.ts";
import { startPacedTimer } from "#core/paced-timer.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { Db, Tx } from "#db/db.ts";
import { withCommit } from "#db/with-commit.ts";
import type { AnnouncedExecutions } from "./announced-executions.ts";
import {
  claimRound,
  type HandedBefore,
  kindOf,
  type Look,
  lookAhead,
  type Round,
} from "./claim-round.ts";
import type { LeasedExecution } from "./lease.ts";
import type { LeasesHere } from "./leases-here.ts";
import { tellQueueAs } from "./notify.store.ts";
import type { RegisteredWorker } from "./worker.store.ts";

export interface Claim {
  readonly worker: RegisteredWorker;
  /** Executions at most. */
  readonly most: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** It is to take nothing; it waits here only so as not to ask all the time. */
  readonly isResting?: boolean;
  /** `generation` when what is known of the worker was asked for. */
  readonly asOf?: number;
}

/** Where the claims of a server wait for work. */
export interface ClaimDispatcher {
  /** Waits for work; answers nothing when the wait is over. */
  claim(claim: Claim): Promise<LeasedExecution[]>;
  /** Looks for work, if somebody waits for it. Told `by` this desk itself, it has looked already. */
  wake(by?: string): void;
  /** Answers all that wait with nothing: they come again, and are looked at anew. */
  turnAway(): void;
  /** Answers what waits for these worker processes with nothing. Who of them still listens comes again. */
  dismiss(instanceIds: ReadonlySet<string>): void;
  /** How often `turnAway` was called. */
  generation(): number;
  /** The lane of what a worker process was handed last, here. */
  lastLaneOf(instanceId: string): number | undefined;
  /**
   * Runs a transaction, and serves the waiting claims at its end, inside it.
   *
   * What it puts into the queue is thus handed out by the commit that accepts it. When
   * a deadlock is broken at its expense, all of it is repeated.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * In such a transaction, when a statement that puts something into the queue was sent: looks behind it, while
   * the rest is done. Answers how to say that by now the queue was told of no more than that.
   */
  lookAhead(tx: Tx): () => void;
  stop(): Promise<void>;
}

interface Waiter extends Claim {
  readonly kind: string;
  /** Set while a transaction serves it. */
  isServed: boolean;
  /** Set when it is to be answered, with work or without. */
  isTurnedAway: boolean;
  /** Set when nobody waits for the answer any more. */
  isGone: boolean;
  answer(leased: LeasedExecution[]): void;
}

/** A transaction of this desk. */
interface Running {
  /** How often it has put something into the queue. */
  readonly told: () => number;
  waiters: Waiter[];
  /** `told`: how often it had when it looked; undefined while that is not known. */
  look: (LookNow & { readonly told: number | undefined }) | undefined;
}

interface LookNow {
  /** The news that it cannot have seen come later. */
  readonly news: number;
  readonly found: Promise<Look | undefined>;
}

const mostTries = 5;
/** Kinds of workers of which it is known that nothing is left for them. */
const mostKinds = 1_000;
/** Worker processes of which it is remembered what they had last. */
const mostRemembered = 10_000;
/** Kinds of work of which it is remembered who had them last, at 150 bytes each. */
const mostAlike = 50_000;

/**
 * One round at a time serves all that wait here: nobody races for what another one gets,
 * and a thousand idle workers cost as much as one of each kind.
 */
export function claimDispatcher(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly leaseMs: number;
  readonly overdueAfterMs: number;
  /** How long a claim may miss that there is work, should every wake-up be lost. */
  readonly pollMs: number;
  readonly idle?: IdleState | undefined;
  /** What workers were told that they may be given. */
  readonly told?: AnnouncedExecutions;
  /** Remembers what is handed out. */
  readonly leases?: LeasesHere;
  /** Takes back what was leased for somebody who had gone. */
  readonly giveBack: (leased: readonly LeasedExecution[]) => void;
}): ClaimDispatcher {
  const name = randomUUID();
  const waiting = new Set<Waiter>();
  const running = new WeakMap<Tx, Running>();
  let round: Promise<void> | undefined;
  let isDue = false;
  let isStopped = false;
  let generation = 0;
  const before: HandedBefore = {
    lanes: recentlyUsed<number>(mostRemembered),
    alike: recentlyUsed<string>(mostAlike),
  };
  // How often something may have come into the queue; and as of when there was nothing for a kind.
  let news = 0;
  const emptyAsOf = recentlyUsed<number>(mostKinds);
  const endPoll = startPacedTimer(parts.pollMs, parts.idle, () => wake());
  const busy = parts.idle?.onBusy(() => wake());

  const serve = async (tx: Tx, waiters: readonly Waiter[], ahead: LookNow | undefined) => {
    const now = parts.clock.now();
    const until = new Date(now.getTime() + parts.leaseMs);
    const { overdueAfterMs, told, leases } = parts;
    const times = { now, until, overdueAfterMs, told, leases };
    const asOf = ahead?.news ?? news;
    const { over } = await claimRound(tx, waiters, before, times, await ahead?.found);
    await withCommit(tx, over);
    return { over, asOf };
  };

  /** After the commit. */
  const learn = ({ exhausted }: Round, asOf: number) => {
    for (const kind of exhausted) emptyAsOf.set(kind, asOf);
  };

  const mayFind = ({ kind }: Waiter) => emptyAsOf.peek(kind) !== news;

  const take = (isWorthIt: (waiter: Waiter) => boolean): Waiter[] => {
    const waiters = [...waiting].filter(
      (waiter) => !waiter.isServed && !waiter.isResting && isWorthIt(waiter),
    );
    for (const waiter of waiters) waiter.isServed = true;
    return waiters;
  };

  const putBack = (
    waiters: readonly Waiter[],
    leasedPerClaim: readonly (readonly LeasedExecution[])[],
  ) => {
    waiters.forEach((waiter, i) => {
      const leased = leasedPerClaim[i] ?? [];
      waiter.isServed = false;
      if (leased.length === 0 && !waiter.isGone && !waiter.isTurnedAway) return;
      if (waiter.isGone && leased.length > 0) parts.giveBack(leased);
      waiting.delete(waiter);
      waiter.answer(waiter.isGone ? [] : [...leased]);
    });
  };

  const rounds = async () => {
    await Promise.resolve();
    while (isDue && !isStopped) {
      isDue = false;
      const waiters = take(mayFind);
      if (waiters.length === 0) {
        // Those who serve them may have looked already, and look again at their end.
        isDue = true;
        break;
      }
      try {
        const { over, asOf } = await parts.db.transaction((tx) => serve(tx, waiters, undefined));
        const round = await over;
        learn(round, asOf);
        putBack(waiters, round.leasedPerClaim);
        isDue ||= round.hasMore;
      } catch (reason) {
        // The claims wait on; the next wake-up or poll tries again.
        parts.logger.warn({ reason: messageOf(reason) }, "could not look for work");
        putBack(waiters, []);
      }
    }
    round = undefined;
  };

  const look = () => {
    if (waiting.size === 0 || isStopped) return;
    isDue = true;
    round ??= rounds();
  };

  const wake = (by?: string) => {
    if (by === name) return;
    news++;
    look();
  };

  const tryTransaction = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    let current: Running | undefined;
    try {
      const done = await parts.db.transaction(async (tx) => {
        const run: Running = { told: tellQueueAs(tx, name), waiters: [], look: undefined };
        current = run;
        running.set(tx, run);
        const value = await work(tx);
        const told = run.told() > 0;
        const ahead = run.look?.told === run.told() ? run.look : undefined;
        // Who came after the look has its own.
        if (!ahead) run.waiters.push(...take((waiter) => told || mayFind(waiter)));
        const served = run.waiters.length === 0 ? undefined : await serve(tx, run.waiters, ahead);
        return { value, told, ...served };
      });
      const { waiters } = current ?? { waiters: [] };
      const served = await done.over;
      if (done.told) news++;
      // What it put there itself, its round has seen.
      if (served) learn(served, (done.asOf ?? 0) + (done.told ? 1 : 0));
      putBack(waiters, served?.leasedPerClaim ?? []);
      // Those who came while this was under way have not looked yet, and a wake-up meanwhile
      // was for work that this may not have seen.
      const tried = new Set(waiters);
      const isMissed =
        isDue ||
        [...waiting].some((waiter) => !waiter.isResting && !tried.has(waiter) && mayFind(waiter));
      if (served?.hasMore || isMissed) look();
      return done.value;
    } catch (reason) {
      putBack(current?.waiters ?? [], []);
      wake();
      throw reason;
    }
  };

  return {
    wake,

    generation: () => generation,

    lastLaneOf: (instanceId) => before.lanes.peek(instanceId),

    turnAway() {
      generation++;
      const waiters = [...waiting];
      // Who is served at this moment leaves with what it gets.
      for (const waiter of waiters) waiter.isTurnedAway = true;
      putBack(
        waiters.filter(({ isServed }) => !isServed),
        [],
      );
    },

    dismiss(instanceIds) {
      const dismissed = [...waiting].filter(({ worker }) => instanceIds.has(worker.instanceId));
      // Who is served at this moment gives back what it gets.
      for (const waiter of dismissed) waiter.isGone = true;
      putBack(
        dismissed.filter(({ isServed }) => !isServed),
        [],
      );
    },

    claim({ worker, most, waitMs, signal, isResting = false, asOf = generation }) {
      if (isStopped) throw new Fault("unavailable", "the server is stopping");
      return new Promise((resolve) => {
        const leave = () => {
          waiter.isGone = true;
          if (!waiter.isServed) putBack([waiter], []);
        };
        // A claim that is being served when its wait is over takes what it gets.
        const giveUp = () => {
          if (waiter.isServed) timer = setTimeout(giveUp, 5);
          else leave();
        };
        let timer = setTimeout(giveUp, waitMs);
        const waiter: Waiter = {
          worker,
          kind: kindOf(worker),
          most,
          waitMs,
          signal,
          isResting,
          isServed: false,
          isTurnedAway: false,
          isGone: false,
          answer(leased) {
            clearTimeout(timer);
            signal.removeEventListener("abort", leave);
            resolve(leased);
          },
        };
        waiting.add(waiter);
        if (signal.aborted || asOf !== generation) leave();
        else {
          signal.addEventListener("abort", leave, { once: true });
          if (mayFind(waiter)) look();
        }
      });
    },

    async transaction(work) {
      for (let tries = 1; ; tries++) {
        try {
          return await tryTransaction(work);
        } catch (reason) {
          if (!(reason instanceof Fault && reason.code === "aborted") || tries === mostTries)
            throw reason;
        }
      }
    },

    lookAhead(tx) {
      const run = running.get(tx);
      if (run === undefined) return () => {};
      run.waiters.push(...take(() => true));
      if (run.waiters.length === 0) return () => {};
      const found = lookAhead(tx, run.waiters);
      // Whoever ends the transaction hears of it.
      found.catch(() => {});
      const look = { news, found };
      run.look = { ...look, told: undefined };
      return () => {
        if (run.look?.found === found) run.look = { ...look, told: run.told() };
      };
    },

    async stop() {
      isStopped = true;
      endPoll();
      busy?.stop();
      await round;
      for (const waiter of waiting) {
        waiter.isGone = true;
        if (!waiter.isServed) putBack([waiter], []);
      }
    },
  };
}
