import { digestKey } from "#core/digest.ts";
import type { ExecutionSpan } from "#execution/execution-span.store.ts";
import type { FinishedExecution } from "#execution/finishing/finished-execution.ts";
import { type EndedSpan, placeBelow } from "#tracing/tracing.ts";

/**
 * Returns the spans of an execution that has ended: its whole time, its time in the queue, and the time from its report
 * to its stored result. The worker records what happens in between.
 *
 * They contain names and digests only, nothing of the command or its environment.
 */
export function spansOfExecution(finished: FinishedExecution, span: ExecutionSpan): EndedSpan[] {
  const { id, project, worker, attempt, outcome, exitCode, actionDigest } = finished;
  const { queuedAt, leasedAt, reportedAt, finishedAt } = finished;
  const startMs = queuedAt.getTime();
  const endMs = finishedAt.getTime();
  // The clock of this server and that of the database may differ by some ms.
  const within = (at: Date) => Math.min(Math.max(at.getTime(), startMs), endMs);
  return [
    {
      place: span,
      name: "execution",
      startMs,
      endMs,
      attributes: {
        "grange.execution.id": id,
        "grange.execution.title": span.title,
        "grange.project": project,
        "grange.action.digest": digestKey(actionDigest),
        "grange.attempt": attempt,
        "grange.outcome": outcome,
        ...(worker === undefined ? {} : { "grange.worker": worker }),
        ...(exitCode === undefined ? {} : { "grange.exit_code": exitCode }),
      },
      failure: outcome === "succeeded" ? undefined : outcome,
    },
    {
      place: placeBelow(span),
      name: "queue",
      startMs,
      endMs: leasedAt === undefined ? endMs : within(leasedAt),
    },
    ...(reportedAt === undefined
      ? []
      : [
          {
            place: placeBelow(span),
            name: "store result",
            startMs: within(reportedAt),
            endMs,
          },
        ]),
  ];
}
