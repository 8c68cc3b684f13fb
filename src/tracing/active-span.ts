import { AsyncLocalStorage } from "node:async_hooks";
import { type SpanPlace, traceparentOf } from "#core/span-place.ts";
import { type EndedSpan, placeBelow, type SpanAttributes, type Tracing } from "./tracing.ts";

/** The span to which the present work belongs. */
interface ActiveSpan {
  readonly place: SpanPlace;
  readonly tracing: Pick<Tracing, "record">;
}

/** Created with the first span: without tracing, asynchronous work carries no context, which would cost time. */
let active: AsyncLocalStorage<ActiveSpan> | undefined;

/** Returns the span to which the present work belongs; always undefined without tracing. */
export function activeSpan(): ActiveSpan | undefined {
  return active?.getStore();
}

/** Returns the `traceparent` header for calls that the present work makes; undefined without an active span. */
export function activeTraceparent(): string | undefined {
  const span = active?.getStore();
  return span === undefined ? undefined : traceparentOf(span.place);
}

/** Runs work, and all that it causes, as part of a span. */
export function insideSpan<T>(span: ActiveSpan, work: () => T): T {
  active ??= new AsyncLocalStorage();
  return active.run(span, work);
}

/** Records a step of the active span that has ended; does nothing without one. */
export function recordStep(step: Omit<EndedSpan, "place">): void {
  const span = active?.getStore();
  if (span !== undefined) span.tracing.record({ ...step, place: placeBelow(span.place) });
}

/** Runs work as a span, and records it with its failure, if it fails. */
export async function asSpan<T>(
  span: ActiveSpan,
  name: string,
  attributes: SpanAttributes,
  work: () => Promise<T>,
  kind: EndedSpan["kind"] = "internal",
): Promise<T> {
  const startMs = nowMs();
  let failure: string | undefined;
  try {
    return await insideSpan(span, work);
  } catch (reason) {
    // The sentence of an error may contain names of files and arguments.
    failure = codeOf(reason);
    throw reason;
  } finally {
    const { place } = span;
    span.tracing.record({ place, name, kind, startMs, endMs: nowMs(), attributes, failure });
  }
}

/** Returns the present time in milliseconds since 1970. The same clock as `new Date()`, so that spans fit together. */
export function nowMs(): number {
  return Date.now();
}

function codeOf(reason: unknown): string {
  if (reason instanceof Error && "code" in reason) return String(reason.code);
  return reason instanceof Error ? reason.name : "error";
}
