import type { Digest } from "#core/digest.ts";
import { keepableText } from "#core/keepable-text.ts";
import type { Tx } from "#db/db.ts";
import { together } from "#db/together.ts";
import { withCommit } from "#db/with-commit.ts";
import { chooseByValues, preferKnownPlans } from "../claiming/prefer-indexes.store.ts";
import type { Outcome } from "../execution.ts";
import { type Lease, leaseKey, type WorkerProcess } from "../leasing/lease.ts";
import { countFinished } from "../leasing/worker.store.ts";
import { dropAttemptLogs } from "../logs/log.store.ts";
import { notifyExecutions, notifyQueue } from "../notify.store.ts";
import type { AfterCommit, QueueHooks } from "../queue-hooks.ts";
import type { ExecutionView } from "../read-executions.store.ts";
import { submitBackgroundRuns, type WantedBackgroundRun } from "../sizing/background-runs.store.ts";
import { type Resized, resizeHeld } from "../sizing/resize-held.store.ts";
import type { Learner } from "../sizing/size-class-roles.ts";
import { recordDecisions } from "../sizing/size-decision.store.ts";
import { afterAttempt } from "./after-attempt.ts";
import { decideAfterReport, type LeaseEnd } from "./decide-after-report.ts";
import {
  assumeHeld,
  type EndedAttempt,
  finishHeld,
  type HeldRow,
  lockLeased,
  type NamedLease,
  recordAttempts,
  requeueHeld,
  reviveLostLeases,
} from "./end-leases.store.ts";
import { endedView } from "./ended-view.ts";
import type { FinishedExecution, Usage } from "./finished-execution.ts";
import { publishFinished } from "./publish-finished.ts";

/** A lease that ends, with the report of its worker. */
export interface EndingLease {
  readonly lease: Lease;
  /** The process that reports the end; not checked when absent. */
  readonly by?: WorkerProcess | undefined;
  readonly end: LeaseEnd;
  readonly exitCode?: number | undefined;
  /** When the report of its end arrived. */
  readonly reportedAt?: Date | undefined;
  /** The start of the process by the worker's clock; used when no start was reported before. */
  readonly startedAt?: Date | undefined;
  /** A serialised REv2 ActionResult. */
  readonly result?: Uint8Array | undefined;
  readonly usage?: Usage | undefined;
  readonly message?: string | undefined;
  readonly missingInputs?: readonly Digest[] | undefined;
  /** Decides whether another size class is tried; without it, no other class is tried. */
  readonly learner?: Learner | undefined;
}

export type Verdict = "accepted" | "refused";

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
  const { locked, served, known } = await holdAll(tx, endings, rules);
  const { verdicts, attempts, finished, ended, requeued, resized, returned, background } =
    decideEndings(endings, locked, rules);
  const again = [...requeued, ...returned, ...resized.map(({ held }) => held)];
  const isAlone = served?.length === 0 && again.length === 0 && background.length === 0;
  // The next step of a graph may concern thousands of jobs.
  await (isAlone ? preferKnownPlans(tx) : chooseByValues(tx));
  const stored = [
    ...(attempts.length > 0 ? [recordAttempts(tx, attempts)] : []),
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
    ...(finished.length > 0
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
  const sent = together([published, moved, ...stored, known]).then(
    (each) => {
      after = each.slice(0, 2);
    },
    async (reason: unknown) => {
      // When the assumption was wrong, its failure is the one to report.
      await known;
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

/** The changes when some leases end. An execution is in one of `finished`, `requeued`, `resized` and `returned`. */
interface EndingChanges {
  /** One for each ending, in their order. */
  readonly verdicts: readonly Verdict[];
  /** The attempts to record; an execution that is returned keeps its attempt. */
  readonly attempts: readonly EndedAttempt[];
  readonly finished: readonly (FinishedExecution & { readonly epoch: number })[];
  /** The finished executions, as readers see them. */
  readonly ended: readonly ExecutionView[];
  /** Queued again on the same size class. */
  readonly requeued: readonly HeldRow[];
  /** Queued again on another size class. */
  readonly resized: readonly Resized[];
  /** Queued again as if no worker had had it. */
  readonly returned: readonly HeldRow[];
  /** Runs on another size class that only measure. */
  readonly background: readonly WantedBackgroundRun[];
}

/** Decides about each ending, given the locked rows. Pure. */
function decideEndings(
  endings: readonly EndingLease[],
  locked: readonly HeldRow[],
  { now, mostAttempts }: { readonly now: Date; readonly mostAttempts: number },
): EndingChanges {
  const held = new Map(locked.map((row) => [leaseKey({ ...row, executionId: row.id }), row]));
  const finished: (FinishedExecution & { readonly epoch: number })[] = [];
  const ended: ExecutionView[] = [];
  const requeued: HeldRow[] = [];
  const resized: Resized[] = [];
  const background: WantedBackgroundRun[] = [];
  const returned: HeldRow[] = [];
  const attempts: EndedAttempt[] = [];
  const verdicts = endings.map((ending): Verdict => {
    const key = leaseKey(ending.lease);
    const row = held.get(key);
    if (row === undefined || !mayEnd(ending, row)) return "refused";
    // It was extended after it was found expired: the worker was informed and continues.
    if (ending.end.kind === "expired" && !row.isOver) return "refused";
    held.delete(key);
    const decision = decideAfterReport(
      { ...row, hasStarted: row.startedAt !== null },
      ending.end,
      mostAttempts + row.sizeRetries,
    );
    if (decision.kind === "return") {
      returned.push(row);
      return "accepted";
    }
    const message = messageOfEnding(ending, row);
    const known = { ...row, startedAt: row.startedAt ?? startIn(ending, row.leasedAt, now) };
    const { exitCode, usage } = ending;
    attempts.push({
      held: known,
      finishedAt: now,
      outcome: decision.outcome,
      message,
      exitCode,
      usage,
    });
    const next = afterAttempt(known, ending, decision, now);
    if (next?.kind === "final" && next.background !== undefined)
      background.push({ held: row, ...next.background });
    if (next?.kind === "again")
      resized.push({ held: row, chosen: next.chosen, isLoss: decision.kind === "requeue" });
    else if (decision.kind === "requeue") requeued.push(row);
    else {
      const end = finishedFrom(known, ending, decision.outcome, message, now);
      finished.push(end);
      ended.push(endedView(end, row.cancelRequested));
    }
    return "accepted";
  });
  return { verdicts, attempts, finished, ended, requeued, resized, returned, background };
}

/**
 * Locks the rows of ending leases, and reads the runs that they serve. `known` rejects when assumed rows have changed
 * since their assignment.
 */
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
  readonly known: Promise<unknown>;
}> {
  const ids = endings.map(({ lease }) => lease.executionId);
  if (assumed !== undefined && hooks.assumeUnserved !== undefined) {
    const known = together([assumeHeld(tx, assumed), hooks.assumeUnserved(tx, ids)]);
    // A failure is reported with the statements that follow.
    known.catch(() => {});
    return { locked: assumed, served: [], known };
  }
  const [locked, served] = await together([lockLeased(tx, ids, now), hooks.servedBy?.(tx, ids)]);
  const held = new Set(locked.map(({ id }) => id));
  const late = endings.filter(({ lease }) => !held.has(lease.executionId)).flatMap(reportedLease);
  if (late.length === 0) return { locked, served, known: Promise.resolve() };
  await reviveLostLeases(tx, late, now);
  const revived = await lockLeased(
    tx,
    late.map(({ lease }) => lease.executionId),
    now,
  );
  return { locked: [...locked, ...revived], served, known: Promise.resolve() };
}

function reportedLease({ lease, by, end }: EndingLease): NamedLease[] {
  return by === undefined || end.kind !== "reported" ? [] : [{ lease, by }];
}

/**
 * Returns whether the reporter is the process that had the lease, or one of the same name that reports results from its
 * disk.
 */
function mayEnd({ by, end }: EndingLease, held: HeldRow): boolean {
  if (by === undefined || by.instanceId === held.workerInstance) return true;
  return end.kind === "reported" && by.name === held.worker;
}

/**
 * Returns the start that a worker reported, limited to the time between the lease and now, because a worker's clock may
 * be wrong.
 */
function startIn({ end, startedAt }: EndingLease, leasedAt: Date, now: Date): Date | null {
  if (end.kind !== "reported" || startedAt === undefined) return null;
  return new Date(Math.min(Math.max(startedAt.getTime(), leasedAt.getTime()), now.getTime()));
}

function finishedFrom(
  row: HeldRow,
  ending: EndingLease,
  outcome: Outcome,
  message: string,
  now: Date,
): FinishedExecution & { readonly epoch: number } {
  // Exit code and result count only when the worker reported this end itself.
  const isReported = ending.end.kind === "reported";
  return {
    id: row.id,
    project: row.project,
    domain: row.domain,
    actionDigest: row.actionDigest,
    invocation: row.invocation,
    doNotCache: row.doNotCache,
    attempt: row.attempt,
    epoch: row.epoch,
    worker: row.worker,
    queuedAt: row.queuedAt,
    leasedAt: row.leasedAt,
    startedAt: row.startedAt ?? undefined,
    reportedAt: ending.reportedAt,
    finishedAt: now,
    outcome,
    exitCode: isReported ? ending.exitCode : undefined,
    result: isReported ? ending.result : undefined,
    message,
    missingInputs: ending.missingInputs ?? [],
    usage: ending.usage,
  };
}

const longestMessage = 8_000;

function messageOfEnding(ending: EndingLease, row: HeldRow): string {
  switch (ending.end.kind) {
    case "reported":
      return keepableText(ending.message ?? "", longestMessage);
    case "expired":
      return `the worker ${row.worker} was lost`;
    case "replaced":
      return `the worker ${row.worker} was restarted`;
    case "released":
      return `the worker ${row.worker} gave it back`;
    case "cancel-overdue":
      return `cancelled; the worker ${row.worker} did not confirm it in time`;
  }
}

function countByWorker(finished: readonly FinishedExecution[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { worker } of finished)
    if (worker !== undefined) counts.set(worker, (counts.get(worker) ?? 0) + 1);
  return counts;
}
