import type { SpanPlace } from "#core/span-place.ts";
import { asSpan, nowMs } from "#tracing/active-span.ts";
import { placeBelow, type Tracing } from "#tracing/tracing.ts";

/** The trace of a submission, which is that of its graph. */
export interface SubmissionTrace {
  /** The place of the graph. */
  readonly place: SpanPlace;
  readonly startedAt: Date;
  readonly tracing: Pick<Tracing, "record">;
}

/** Begins the trace of a submission; undefined without tracing, or when sampling leaves it out. */
export function submissionTrace(
  tracing: Pick<Tracing, "begin" | "record"> | undefined,
  traceparent: string | undefined,
): SubmissionTrace | undefined {
  const place = tracing?.begin("graph", traceparent);
  return tracing && place && { place, startedAt: new Date(), tracing };
}

/** Runs a step of a submission, and records it below the graph. */
export function asSubmissionStep<T>(
  trace: SubmissionTrace | undefined,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  if (trace === undefined) return work();
  return asSpan({ place: placeBelow(trace.place), tracing: trace.tracing }, name, {}, work);
}

/** Ends the trace of a submission from which no graph was made: otherwise the graph itself ends it. */
export function endWithoutGraph(
  trace: SubmissionTrace | undefined,
  why: "rejected" | "existed",
): void {
  trace?.tracing.record({
    place: trace.place,
    name: "graph",
    kind: "server",
    startMs: trace.startedAt.getTime(),
    endMs: nowMs(),
    attributes: { "grange.state": why },
    failure: why === "rejected" ? why : undefined,
  });
}
