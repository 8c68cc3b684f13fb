import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { messageOf } from "#core/fault.ts";
import type { IdleState } from "#core/idle-state.ts";
import { startPacedTimer } from "#core/paced-timer.ts";
import type { Service } from "#core/service.ts";
import type { Db, Tx } from "#db/db.ts";
import { together } from "#db/together.ts";
import { preferIndexes } from "../claiming/prefer-indexes.store.ts";
import type { ExecutionId } from "../execution.ts";
import { lockForCancelling } from "../finishing/cancel-executions.store.ts";
import { cancelExecutions } from "../finishing/cancel-executions.ts";
import { lockLeased, recordAttempts } from "../finishing/end-leases.store.ts";
import { settleLeases } from "../finishing/settle-leases.ts";
import type { AfterCommit, QueueHooks } from "../queue-hooks.ts";
import { readExecutions } from "../read-executions.store.ts";
import { recordDecisions } from "../sizing/size-decision.store.ts";
import {
  areHedgesAbout,
  beginHedges,
  closeHedges,
  type Hedge,
  needlessHedges,
  takeOverLease,
  wonHedges,
} from "./hedge.store.ts";
import { hedgeDecisionOf } from "./hedge-decision.ts";

/** How soon a second run begins after its time, and is looked at. */
const everyMs = 500;

interface Hedges extends Service {
  /** Looks once, as it does by itself all the time. */
  lookAfter(): Promise<void>;
}

/**
 * Looks after second runs: begins them, lets the first end with them, ends those that nobody needs.
 *
 * A second run is an execution of its own, so each step is a transaction that any server may do, and that
 * is found again when a server dies before it. The first's row is all that is locked.
 */
export function hedges(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly idle?: IdleState | undefined;
  readonly mostAttempts: number;
  readonly hooks: QueueHooks;
  /** As the queue's: what is put into the queue in it is handed out right after the commit. */
  readonly transaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
  readonly changed: (ids: readonly ExecutionId[]) => void;
}): Hedges {
  const { db, clock, logger, hooks, transaction } = parts;
  let running: Promise<void> | undefined;

  const looking = <T>(look: (tx: Tx) => Promise<T>): Promise<T> =>
    db.transaction(async (tx) => {
      await preferIndexes(tx);
      return look(tx);
    });

  const begin = () =>
    transaction(async (tx) => {
      await preferIndexes(tx);
      const now = clock.now();
      const begun = await beginHedges(tx, now);
      const decisions = await together(
        begun.map((each) => hedgeDecisionOf(tx, each, each.sizeClass, now)),
      );
      await recordDecisions(
        tx,
        decisions.flatMap((each) => each ?? []),
      );
    });

  const takeUp = async (won: Hedge) => {
    const after = await transaction((tx) => endWith(tx, won));
    parts.changed([won.original]);
    after?.();
  };

  const endWith = async (tx: Tx, won: Hedge): Promise<AfterCommit | undefined> => {
    const now = clock.now();
    await preferIndexes(tx);
    // In whichever state it is: nobody may be handed it from here on.
    await lockForCancelling(tx, [won.original]);
    const [held] = await lockLeased(tx, [won.original], now);
    const [view] = await readExecutions(tx, [won.hedge]);
    const finished = view?.finished;
    if (finished === undefined) return undefined;
    const lease = await takeOverLease(tx, won, new Date(now.getTime() + everyMs));
    if (lease === undefined) return undefined;
    if (held !== undefined) {
      const message = `a second run, on ${finished.worker ?? "a greater class"}, was done first`;
      const about = {
        outcome: "cancelled" as const,
        message,
        exitCode: undefined,
        usage: undefined,
      };
      await recordAttempts(tx, [{ ...about, held, finishedAt: now }]);
    }
    const { afterCommit } = await settleLeases(
      tx,
      [
        {
          lease: { executionId: won.original, ...lease },
          end: { kind: "reported", outcome: "succeeded", lacksInputs: false },
          exitCode: finished.exitCode,
          result: finished.result,
          usage: finished.usage,
          message: finished.message,
        },
      ],
      { now, mostAttempts: parts.mostAttempts, hooks, isTakenOver: true },
    );
    return afterCommit;
  };

  const endNeedless = async () => {
    const needless = await looking(needlessHedges);
    if (needless.length === 0) return;
    const after = await db.transaction((tx) => cancelExecutions(tx, needless, clock.now(), hooks));
    parts.changed(needless);
    after();
  };

  /** What one of them does wrong keeps nobody else from the next step. */
  const apart = async (step: () => Promise<unknown>) => {
    try {
      await step();
    } catch (reason) {
      logger.warn({ reason: messageOf(reason) }, "could not look after second runs");
    }
  };

  const lookAfter = async () => {
    if (!(await looking((tx) => areHedgesAbout(tx, clock.now())))) return;
    await apart(begin);
    for (const won of await looking(wonHedges)) await apart(() => takeUp(won));
    await apart(endNeedless);
    await apart(() => looking(closeHedges));
  };

  const endTimer = startPacedTimer(everyMs, parts.idle, () => {
    running ??= lookAfter()
      .catch((reason: unknown) => {
        logger.warn({ reason: messageOf(reason) }, "could not look after second runs");
      })
      .finally(() => {
        running = undefined;
      });
  });

  return {
    lookAfter,
    async stop() {
      endTimer();
      await running;
    },
  };
}
