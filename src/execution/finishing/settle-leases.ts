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

/** A lease that ends, and what its worker brought. */
export interface EndingLease {
  readonly lease: Lease;
  /** Who reports the end; anybody may when absent. */
  readonly by?: WorkerProcess | undefined;
  readonly end: LeaseEnd;
  readonly exitCode?: number | undefined;
  /** When its process started, should nobody have said so before. By the worker's clock. */
  readonly startedAt?: Date | undefined;
  /** A serialised REv2 ActionResult. */
  readonly result?: Uint8Array | undefined;
  readonly usage?: Usage | undefined;
  readonly message?: string | undefined;
  readonly missingInputs?: readonly Digest[] | undefined;
  /** Decides whether another size class is tried; nobody does when absent. */
  readonly learner?: Learner | undefined;
}

export type Verdict = "accepted" | "refused";

interface Settled {
  /** In the order of what was asked. */
  readonly verdicts: readonly Verdict[];
  /** Those that have come to their end. */
  readonly ended: readonly ExecutionView[];
  readonly afterCommit: AfterCommit;
}

/** So few are looked up by their keys, whatever the tables hold. */
const fewEndings = 16;

/**
 * Ends leases: each execution is finished, or goes back into the queue.
 *
 * Only the current lease of an execution can be ended, or the last one, by a report that comes after it was given up
 * for lost, while nobody was handed the execution since. All else, such as a report that was sent twice, is refused
 * and changes nothing. What is decided is decided under the locks of the rows.
 */
export async function settleLeases(
  tx: Tx,
  endings: readonly EndingLease[],
  rules: {
    readonly now: Date;
    readonly mostAttempts: number;
    readonly hooks: QueueHooks;
    /**
     * The rows of all that end, should they be as they were handed out: nobody then asks and waits. They are
     * not, and the transaction comes to nothing, as `aborted`; then leave this away.
     */
    readonly assumed?: readonly HeldRow[] | undefined;
    /** From a second run, with which its worker was counted already. */
    readonly isTakenOver?: boolean;
  },
): Promise<Settled> {
  if (endings.length <= fewEndings) await preferKnownPlans(tx);
  const { locked, served, known } = await holdAll(tx, endings, rules);
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
    if (row === undefined) return "refused";
    if (!mayEnd(ending, row)) return "refused";
    // Extended since it was found: its worker was told so, and goes on.
    if (ending.end.kind === "expired" && !row.isOver) return "refused";
    held.delete(key);
    const decision = decideAfterReport(
      { ...row, hasStarted: row.startedAt !== null },
      ending.end,
      rules.mostAttempts + row.sizeRetries,
    );
    if (decision.kind === "return") {
      returned.push(row);
      return "accepted";
    }
    const message = messageOfEnding(ending, row);
    const known = { ...row, startedAt: row.startedAt ?? startIn(ending, row.leasedAt, rules.now) };
    attempts.push({
      held: known,
      finishedAt: rules.now,
      outcome: decision.outcome,
      message,
      exitCode: ending.exitCode,
      usage: ending.usage,
    });
    const next = afterAttempt(known, ending, decision, rules.now);
    if (next?.kind === "final" && next.background !== undefined)
      background.push({ held: row, ...next.background });
    if (next?.kind === "again")
      resized.push({ held: row, chosen: next.chosen, isLoss: decision.kind === "requeue" });
    else if (decision.kind === "requeue") requeued.push(row);
    else {
      const end = finishedFrom(known, ending, decision.outcome, message, rules.now);
      finished.push(end);
      ended.push(endedView(end, row.cancelRequested));
    }
    return "accepted";
  });

  const again = [...requeued, ...returned, ...resized.map(({ held }) => held)];
  const isAlone = served?.length === 0 && again.length === 0 && background.length === 0;
  // What a graph does next may be about thousands of jobs.
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
  const sent = together([
    publishFinished(tx, finished, rules.hooks, served),
    again.length === 0
      ? undefined
      : rules.hooks.onProgress?.(
          tx,
          again.map(({ id, attempt }) => ({ id, kind: "queued" as const, attempt })),
        ),
    ...stored,
    known,
  ]).then(
    (each) => {
      after = each.slice(0, 2);
    },
    async (reason: unknown) => {
      // What failed behind an assumption that does not hold says nothing of its own.
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

/** What ends, under the locks of its rows, and what is served by it. `known`: whether that is so. */
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
    // Heard of with what is sent behind it.
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

/** The process that was handed it; or one of the same name that took over the results that were kept on its disk. */
function mayEnd({ by, end }: EndingLease, held: HeldRow): boolean {
  if (by === undefined || by.instanceId === held.workerInstance) return true;
  return end.kind === "reported" && by.name === held.worker;
}

/** A worker's clock may be wrong; nothing starts before it was handed out, or later than it ends. */
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
  // What was reported belongs to the end only when it is the end that was reported.
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
      return `the worker ${row.worker} was started anew`;
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
