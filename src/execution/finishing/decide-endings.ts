import type { Digest } from "#core/digest.ts";
import { keepableText } from "#core/keepable-text.ts";
import type { Outcome } from "../execution.ts";
import { type Lease, leaseKey, type WorkerProcess } from "../leasing/lease.ts";
import type { ExecutionView } from "../read-executions.store.ts";
import type { WantedBackgroundRun } from "../sizing/background-runs.store.ts";
import type { Resized } from "../sizing/resize-held.store.ts";
import type { Learner } from "../sizing/size-class-roles.ts";
import { afterAttempt } from "./after-attempt.ts";
import { decideAfterReport, type LeaseEnd } from "./decide-after-report.ts";
import type { EndedAttempt, HeldRow } from "./end-leases.store.ts";
import { endedView } from "./ended-view.ts";
import type { FinishedExecution, Usage } from "./finished-execution.ts";

/** A lease that ends, with the report of its worker. */
export interface EndingLease {
  readonly lease: Lease;
  /** The process that reports the end; not checked when absent. */
  readonly by?: WorkerProcess | undefined;
  readonly end: LeaseEnd;
  readonly exitCode?: number | undefined;
  /** When the report of its end arrived. */
  readonly reportedAt?: Date | undefined;
  /** The start of the action's process by the worker's clock; used when no start was reported before. */
  readonly startedAt?: Date | undefined;
  /** A serialised REv2 ActionResult. */
  readonly result?: Uint8Array | undefined;
  readonly usage?: Usage | undefined;
  readonly message?: string | undefined;
  /** Input blobs that could not be found; they end the execution at once. */
  readonly missingInputs?: readonly Digest[] | undefined;
  /** Decides whether another size class is tried; without it, no other class is tried. */
  readonly learner?: Learner | undefined;
}

export type Verdict = "accepted" | "refused";

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
export function decideEndings(
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
