import type { SpanPlace } from "#core/span-place.ts";
import { derivedSpanId } from "#tracing/derived-span-id.ts";
import { placeBelow } from "#tracing/tracing.ts";
import type { GraphId } from "./graph-id.ts";

interface Job {
  readonly graphId: GraphId;
  readonly job: string;
}

/** Returns the id of a job's span, which is recorded when its graph has ended. */
export function spanIdOfJob({ graphId, job }: Job): string {
  return derivedSpanId("job", graphId, job);
}

/** Returns the place of an execution of a job; undefined when its graph is not traced. */
export function spanOfExecutionOf(job: Job, traceId: string | null): SpanPlace | undefined {
  return traceId === null ? undefined : placeBelow({ traceId, spanId: spanIdOfJob(job) });
}
