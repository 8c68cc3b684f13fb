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
  beginHedges,
  closeHedges,
  type Hedge,
  hasOpenHedges,
  needlessHedges,
  takeOverLease,
  wonHedges,
} from "./hedge.store.ts";
import { hedgeDecisionOf } from "./hedge-decision.ts";

interface Hedges extends Service {
  /** Runs one round, which otherwise runs regularly. */
  lookAfter(): Promise<void>;
}

/**
 * Manages second runs: starts them, ends the original execution with their result, and cancels those that are not
 * needed.
 *
 * A second run is an execution of its own. Each step is one transaction, which any server may run; when a server dies
 * before a step, another server continues. Only the row of the original execution is locked.
 */
export function hedges(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly idle?: IdleState | undefined;
  /** How often second runs are started and checked. */
  readonly everyMs: number;
  readonly mostAttempts: number;
  readonly hooks: QueueHooks;
  /** The queue's own transaction: executions that it queues are handed out right after the commit. */
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
    const { everyMs, mostAttempts } = parts;
    const rules = { now: clock.now(), everyMs, mostAttempts, hooks };
    const after = await transaction((tx) => endWithHedge(tx, won, rules));
    parts.changed([won.original]);
    after?.();
  };

  const endNeedless = async () => {
    const needless = await looking(needlessHedges);
    if (needless.length === 0) return;
    const after = await db.transaction((tx) => cancelExecutions(tx, needless, clock.now(), hooks));
    parts.changed(needless);
    after();
  };

  /** Logs the failure of a step, so that the next step still runs. */
  const apart = async (step: () => Promise<unknown>) => {
    try {
      await step();
    } catch (reason) {
      logger.warn({ reason: messageOf(reason) }, "a step of the work on second runs failed");
    }
  };

  const lookAfter = async () => {
    if (!(await looking((tx) => hasOpenHedges(tx, clock.now())))) return;
    await apart(begin);
    for (const won of await looking(wonHedges)) await apart(() => takeUp(won));
    await apart(endNeedless);
    await apart(() => looking(closeHedges));
  };

  const endTimer = startPacedTimer(parts.everyMs, parts.idle, () => {
    running ??= lookAfter()
      .catch((reason: unknown) => {
        logger.warn({ reason: messageOf(reason) }, "could not check second runs");
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

/** Ends an execution with the result of its second run. Returns undefined when there is nothing left to end. */
async function endWithHedge(
  tx: Tx,
  won: Hedge,
  rules: {
    readonly now: Date;
    readonly everyMs: number;
    readonly mostAttempts: number;
    readonly hooks: QueueHooks;
  },
): Promise<AfterCommit | undefined> {
  const { now } = rules;
  await preferIndexes(tx);
  // Locked in every state: from here on the execution cannot be assigned to a worker.
  await lockForCancelling(tx, [won.original]);
  const [held] = await lockLeased(tx, [won.original], now);
  const [view] = await readExecutions(tx, [won.hedge]);
  const finished = view?.finished;
  if (finished === undefined) return undefined;
  const lease = await takeOverLease(tx, won, new Date(now.getTime() + rules.everyMs));
  if (lease === undefined) return undefined;
  if (held !== undefined) {
    const message = `a second run, on ${finished.worker ?? "a greater class"}, was done first`;
    const cancelled = {
      outcome: "cancelled" as const,
      message,
      exitCode: undefined,
      usage: undefined,
    };
    await recordAttempts(tx, [{ ...cancelled, held, finishedAt: now }]);
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
    { ...rules, isTakenOver: true },
  );
  return afterCommit;
}
