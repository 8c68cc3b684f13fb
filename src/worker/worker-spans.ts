import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { parseTraceparent, type SpanPlace } from "#core/span-place.ts";
import type { ExecutedActionMetadata } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { Outcome, type Work } from "#proto/grange/worker/v1/worker_pb.ts";
import { insideSpan, nowMs } from "#tracing/active-span.ts";
import { type EndedSpan, placeBelow, type Tracing } from "#tracing/tracing.ts";
import type { Executed } from "./execute-action.ts";

/**
 * Executes work as a span below that of its execution, and records the span and its phases. Without tracing, or for
 * work that is not traced, only executes it.
 *
 * Calls to the farm that the execution makes, such as for blobs, belong to the span.
 */
export async function asWorkerSpans(
  tracing: Pick<Tracing, "record"> | undefined,
  work: Pick<Work, "traceparent" | "lease" | "project">,
  execute: () => Promise<Executed>,
): Promise<Executed> {
  const parent = tracing && parseTraceparent(work.traceparent);
  if (tracing === undefined || parent?.isSampled !== true) return execute();
  const place = placeBelow(parent);
  const startMs = nowMs();
  const executed = await insideSpan({ place, tracing }, execute);
  for (const span of spansOfWork(executed, work, { place, startMs, endMs: nowMs() }))
    tracing.record(span);
  return executed;
}

/** Returns the spans of one execution on a worker: its whole time there, and its phases. */
export function spansOfWork(
  executed: Executed,
  work: Pick<Work, "lease" | "project">,
  { place, startMs, endMs }: Pick<EndedSpan, "place" | "startMs" | "endMs">,
): EndedSpan[] {
  const outcome = outcomeOf(executed);
  const whole: EndedSpan = {
    place,
    name: "work",
    kind: "server",
    startMs,
    endMs,
    attributes: {
      "grange.execution.id": work.lease?.executionId ?? "",
      "grange.attempt": work.lease?.attempt ?? 0,
      "grange.project": work.project,
      "grange.outcome": outcome,
    },
    failure: outcome === "succeeded" ? undefined : outcome,
  };
  const metadata =
    executed.kind === "finished" ? executed.finished.result?.executionMetadata : undefined;
  return metadata === undefined ? [whole] : [whole, ...phasesOf(metadata, place, startMs, endMs)];
}

function phasesOf(
  metadata: ExecutedActionMetadata,
  place: SpanPlace,
  startMs: number,
  endMs: number,
): EndedSpan[] {
  const {
    workerStartTimestamp: started,
    inputFetchStartTimestamp: fetchStart,
    inputFetchCompletedTimestamp: fetchEnd,
    executionStartTimestamp: runStart,
    executionCompletedTimestamp: runEnd,
    outputUploadStartTimestamp: uploadStart,
    outputUploadCompletedTimestamp: uploadEnd,
  } = metadata;
  const phase = (name: string, from: Timestamp | undefined, to: Timestamp | undefined) => {
    if (from === undefined || to === undefined) return [];
    const within = (at: Timestamp) => Math.min(Math.max(timestampMs(at), startMs), endMs);
    return [{ place: placeBelow(place), name, startMs: within(from), endMs: within(to) }];
  };
  return [
    ...phase("prepare sandbox", started, fetchStart),
    ...phase("fetch inputs", fetchStart, fetchEnd),
    ...phase("run", runStart, runEnd),
    ...phase("upload outputs", uploadStart, uploadEnd),
  ];
}

const outcomeNames: Readonly<Record<number, string | undefined>> = {
  [Outcome.SUCCEEDED]: "succeeded",
  [Outcome.FAILED]: "failed",
  [Outcome.TIMED_OUT]: "timed_out",
  [Outcome.OUT_OF_MEMORY]: "out_of_memory",
  [Outcome.CANCELLED]: "cancelled",
  [Outcome.INFRASTRUCTURE_ERROR]: "infrastructure_error",
};

function outcomeOf(executed: Executed): string {
  switch (executed.kind) {
    case "lost":
    case "no-room":
      return executed.kind;
    case "finished":
      return outcomeNames[executed.finished.outcome] ?? "unknown";
  }
}
