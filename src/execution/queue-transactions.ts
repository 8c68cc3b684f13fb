import { Fault } from "#core/fault.ts";
import type { Db, Tx } from "#db/db.ts";
import { withCommit } from "#db/with-commit.ts";
import type { Round } from "./claiming/claim-round.ts";
import type { Look } from "./claiming/recent-looks.ts";
import type { WaitingClaim, WaitingClaims } from "./claiming/waiting-claims.ts";
import { nameQueueNotifier } from "./notify.store.ts";

/** The number of attempts for a transaction that PostgreSQL aborts, for example because of a deadlock. */
const mostTries = 5;

/** Work that was found before the end of a transaction. */
interface EarlyLook {
  /** The count of changes that the query has seen. */
  readonly asOf: number;
  readonly found: Promise<Look | undefined>;
  /** The number of the transaction's additions to the queue before the query; undefined while unknown. */
  readonly queuedBefore: number | undefined;
}

/** An open transaction. */
interface OpenTransaction {
  /** Returns the number of its additions to the queue so far. */
  readonly queuedCount: () => number;
  /** Claims that it serves. */
  claims: readonly WaitingClaim[];
  early: EarlyLook | undefined;
}

/** The parts of the dispatcher that transactions use. */
interface Serving {
  /** The name under which this server notifies the queue. */
  readonly name: string;
  readonly claims: WaitingClaims;
  /** Assigns work to claims; resolves when the last statement is sent. */
  serve(
    tx: Tx,
    claims: readonly WaitingClaim[],
    early: Look | undefined,
  ): Promise<{ readonly over: Promise<Round> }>;
  /** Finds executions for the first claims. */
  lookEarly(tx: Tx, claims: readonly WaitingClaim[]): Promise<Look | undefined>;
  /** Returns whether a round is due but has not begun. */
  isRoundDue(): boolean;
  /** Requests a round. */
  ask(): void;
}

export interface QueueTransactions {
  /**
   * Runs a transaction, and serves the waiting claims at its end, inside it.
   *
   * Executions that it queues are thus assigned by the commit that accepts them. When a deadlock aborts it, the whole
   * transaction is repeated.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Looks for work in a transaction that has sent its changes of the queue, while it does the rest. Call the returned
   * function to confirm that nothing more was queued since; otherwise the transaction looks again at its end.
   */
  lookEarly(tx: Tx): () => void;
}

export function queueTransactions(db: Db, serving: Serving): QueueTransactions {
  const { claims } = serving;
  const open = new WeakMap<Tx, OpenTransaction>();

  const tryOnce = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    let current: OpenTransaction | undefined;
    try {
      const done = await db.transaction(async (tx) => {
        const own: OpenTransaction = {
          queuedCount: nameQueueNotifier(tx, serving.name),
          claims: [],
          early: undefined,
        };
        current = own;
        open.set(tx, own);
        const value = await work(tx);
        return { value, ...(await serveAtEnd(tx, own)) };
      });
      const served = current?.claims ?? [];
      const round = await done.over;
      if (done.hasQueued) claims.queueChanged();
      // The round has seen what its own transaction queued.
      if (round) claims.nothingFor(round.exhausted, done.asOf + (done.hasQueued ? 1 : 0));
      claims.served(served, round?.leasedPerClaim ?? []);
      // New claims have not queried yet, and meanwhile work may have been added that this query has not seen.
      if (round?.hasMore || serving.isRoundDue() || claims.isAnyMissed(served)) serving.ask();
      return done.value;
    } catch (reason) {
      claims.served(current?.claims ?? [], []);
      claims.queueChanged();
      serving.ask();
      throw reason;
    }
  };

  const serveAtEnd = async (tx: Tx, own: OpenTransaction) => {
    const hasQueued = own.queuedCount() > 0;
    const early = own.early?.queuedBefore === own.queuedCount() ? own.early : undefined;
    // Claims that arrived after an early query get their own query.
    if (!early) own.claims = [...own.claims, ...claims.take(hasQueued ? "all" : "that-may-find")];
    const asOf = early?.asOf ?? claims.changes;
    if (own.claims.length === 0) return { hasQueued, asOf, over: undefined };
    const { over } = await serving.serve(tx, own.claims, await early?.found);
    await withCommit(tx, over);
    return { hasQueued, asOf, over };
  };

  return {
    async transaction(work) {
      for (let tries = 1; ; tries++) {
        try {
          return await tryOnce(work);
        } catch (reason) {
          const isBrokenOff = reason instanceof Fault && reason.code === "aborted";
          if (!isBrokenOff || tries === mostTries) throw reason;
        }
      }
    },

    lookEarly(tx) {
      const own = open.get(tx);
      if (own === undefined) return () => {};
      own.claims = [...own.claims, ...claims.take("all")];
      if (own.claims.length === 0) return () => {};
      const found = serving.lookEarly(tx, own.claims);
      // The end of the transaction throws the error.
      found.catch(() => {});
      const look = { asOf: claims.changes, found };
      own.early = { ...look, queuedBefore: undefined };
      return () => {
        if (own.early?.found === found) own.early = { ...look, queuedBefore: own.queuedCount() };
      };
    },
  };
}
