import { randomBytes } from "node:crypto";
import type { Service } from "#core/service.ts";
import type { SpanPlace } from "#core/span-place.ts";

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A span whose work has ended. Times are in milliseconds since 1970, with fractions. */
export interface EndedSpan {
  readonly place: SpanPlace;
  /** The same for all spans of a kind: it contains no id. */
  readonly name: string;
  /** `server`: it answers a call of another process. */
  readonly kind?: "internal" | "server";
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes?: SpanAttributes;
  /** Why the work failed; absent when it did not. */
  readonly failure?: string | undefined;
}

/**
 * Records spans of OpenTelemetry, which leave this process in batches.
 *
 * All spans are recorded when their work has ended, from its times: nothing is open meanwhile, and a server can record
 * work that began before it was started.
 */
export interface Tracing extends Service {
  /**
   * Returns the place of a new span: below the caller's span when its `traceparent` header is well-formed, otherwise as
   * the first of a new trace. Undefined when sampling leaves it out.
   */
  begin(name: string, traceparent?: unknown): SpanPlace | undefined;
  record(span: EndedSpan): void;
}

/** Returns the place of a further span below another one. */
export function placeBelow(parent: Pick<SpanPlace, "traceId" | "spanId">): SpanPlace {
  return {
    traceId: parent.traceId,
    spanId: randomBytes(8).toString("hex"),
    parentId: parent.spanId,
  };
}
