import type { Tx } from "#db/db.ts";
import { together } from "#db/together.ts";
import { withCommit } from "#db/with-commit.ts";
import { chooseByValues, preferKnownPlans } from "../claiming/prefer-indexes.store.ts";
import type { ExecutionId } from "../execution.ts";
import { countFinished } from "../leasing/worker.store.ts";
import { dropAttemptLogs } from "../logs/log.store.ts";
import { notifyExecutions, notifyQueue } from "../notify.store.ts";
import type { AfterCommit, QueueHooks } from "../queue-hooks.ts";
import type { ExecutionView } from "../read-executions.store.ts";
import { submitBackgroundRuns } from "../sizing/background-runs.store.ts";
import { resizeHeld } from "../sizing/resize-held.store.ts";
import { recordDecisions } from "../sizing/size-decision.store.ts";
import { decideEndings, type EndingLease, type Verdict } from "./decide-endings.ts";
import {
  assumeHeld,
  finishAlone,
  finishAssumed,
  finishHeld,
  type HeldRow,
  lockLeased,
  type NamedLease,
  recordAttempts,
  requeueHeld,
  reviveLostLeases,
} from "./end-leases.store.ts";
import type { FinishedExecution } from "./finished-execution.ts";
import { publishFinished } from "./publish-finished.ts";

interface Settled {
  /** One for each ending, in their order. */
  readonly verdicts: readonly Verdict[];
  /** The finished executions. */
  readonly ended: readonly ExecutionView[];
  readonly afterCommit: AfterCommit;
}

/** Up to this many rows, the planner uses their keys, independent of table statistics. */
const fewEndings = 16;

/**
 * Ends leases: each execution is finished, or goes back into the queue.
 *
 * The current lease of an execution is accepted. Its last lease is also accepted, when a report arrives after the lease
 * was lost and before another worker got the execution. Everything else, such as a repeated report, is refused and
 * changes nothing. Decisions are made while the rows are locked.
 */
export async function settleLeases(
  tx: Tx,
  endings: readonly EndingLease[],
  rules: {
    readonly now: Date;
    readonly mostAttempts: number;
    readonly hooks: QueueHooks;
    /**
     * The rows of all ending leases, as they were assigned. They are then not read first, which saves a round trip.
     * When a row has changed, the transaction fails with `aborted`: call again without `assumed`.
     */
    readonly assumed?: readonly HeldRow[] | undefined;
    /** Whether the result is that of a second run, whose worker was counted already. */
    readonly isTakenOver?: boolean;
  },
): Promise<Settled> {
  if (endings.length <= fewEndings) await preferKnownPlans(tx);
  const { locked, served, unchecked } = await holdAll(tx, endings, rules);
  const { verdicts, attempts, finished, ended, requeued, resized, returned, background } =
    decideEndings(endings, locked, rules);
  const again = [...requeued, ...returned, ...resized.map(({ held }) => held)];
  const isAlone = served?.length === 0 && again.length === 0 && background.length === 0;
  // The attempts are those of the finished ones.
  const isPlain = finished.length > 0 && again.length === 0 && rules.isTakenOver !== true;
  const ids = endings.map(({ lease }) => lease.executionId);
  const [attempt] = attempts;
  const [end] = finished;
  const isOneAssumed =
    unchecked?.length === 1 && isPlain && isAlone && attempt !== undefined && end !== undefined;
  // Sent before all changes, unless the statement that ends the execution checks its row.
  const checked = isOneAssumed ? undefined : checkAssumed(tx, unchecked, ids, rules.hooks);
  // The next step of a graph may concern thousands of jobs.
  await (isAlone ? preferKnownPlans(tx) : chooseByValues(tx));
  const stored = [
    ...(isOneAssumed
      ? [finishAssumed(tx, attempt, end), rules.hooks.assumeUnserved?.(tx, ids)]
      : []),
    ...(isPlain && !isOneAssumed ? [finishAlone(tx, attempts, finished)] : []),
    ...(attempts.length > 0 && !isPlain ? [recordAttempts(tx, attempts)] : []),
    ...(requeued.length > 0 ? [requeueHeld(tx, requeued, true)] : []),
    ...(resized.length > 0
      ? [
          resizeHeld(tx, resized),
          recordDecisions(
            tx,
            resized.map(({ held, chosen }) => ({ ...held, purpose: "retry", chosen })),
          ),
        ]
      : []),
    ...(returned.length > 0
      ? [dropAttemptLogs(tx, returned), requeueHeld(tx, returned, false)]
      : []),
    ...(again.length > 0 ? [notifyQueue(tx)] : []),
    ...(finished.length > 0 && !isPlain
      ? [
          finishHeld(tx, finished),
          ...(rules.isTakenOver ? [] : [countFinished(tx, countByWorker(finished))]),
        ]
      : []),
    notifyExecutions(
      tx,
      [...finished, ...again].map(({ id }) => id),
    ),
  ];
  let after: readonly unknown[] = [];
  const published = publishFinished(tx, finished, rules.hooks, served);
  // One after the other: both may advance the same graph, and each computes its counts from those that it reads.
  const moved =
    again.length === 0
      ? undefined
      : published.then(() =>
          rules.hooks.onProgress?.(
            tx,
            again.map(({ id, attempt }) => ({ id, kind: "queued" as const, attempt })),
          ),
        );
  const sent = together([published, moved, ...stored, checked]).then(
    (each) => {
      after = each.slice(0, 2);
    },
    async (reason: unknown) => {
      // When the assumption was wrong, its failure is the one to report.
      await checked;
      throw reason;
    },
  );
  await (isAlone ? withCommit(tx, sent) : sent);
  if (background.length > 0) await submitBackgroundRuns(tx, background, rules.now);
  return {
    verdicts,
    ended,
    afterCommit() {
      for (const each of after) if (typeof each === "function") each();
    },
  };
}

/** Locks the rows of ending leases, and reads the runs that they serve; or assumes both, and locks nothing. */
async function holdAll(
  tx: Tx,
  endings: readonly EndingLease[],
  {
    now,
    hooks,
    assumed,
  }: {
    readonly now: Date;
    readonly hooks: QueueHooks;
    readonly assumed?: readonly HeldRow[] | undefined;
  },
): Promise<{
  readonly locked: readonly HeldRow[];
  readonly served: readonly string[] | undefined;
  /** The rows that are assumed to be as at their assignment; the caller checks it. */
  readonly unchecked?: readonly HeldRow[];
}> {
  const ids = endings.map(({ lease }) => lease.executionId);
  if (assumed !== undefined && hooks.assumeUnserved !== undefined)
    return { locked: assumed, served: [], unchecked: assumed };
  const [locked, served] = await together([lockLeased(tx, ids, now), hooks.servedBy?.(tx, ids)]);
  const held = new Set(locked.map(({ id }) => id));
  const late = endings.filter(({ lease }) => !held.has(lease.executionId)).flatMap(reportedLease);
  if (late.length === 0) return { locked, served };
  await reviveLostLeases(tx, late, now);
  const revived = await lockLeased(
    tx,
    late.map(({ lease }) => lease.executionId),
    now,
  );
  return { locked: [...locked, ...revived], served };
}

/** Locks assumed rows. Rejects when one has changed since its assignment, or when a graph uses its execution. */
function checkAssumed(
  tx: Tx,
  unchecked: readonly HeldRow[] | undefined,
  ids: readonly ExecutionId[],
  hooks: QueueHooks,
): Promise<unknown> | undefined {
  if (unchecked === undefined) return undefined;
  const checked = together([assumeHeld(tx, unchecked), hooks.assumeUnserved?.(tx, ids)]);
  // A failure is reported with the statements that follow.
  checked.catch(() => {});
  return checked;
}

function reportedLease({ lease, by, end }: EndingLease): NamedLease[] {
  return by === undefined || end.kind !== "reported" ? [] : [{ lease, by }];
}

function countByWorker(finished: readonly FinishedExecution[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { worker } of finished)
    if (worker !== undefined) counts.set(worker, (counts.get(worker) ?? 0) + 1);
  return counts;
}
