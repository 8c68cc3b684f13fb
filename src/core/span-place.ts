import { z } from "zod";

const TraceId = z.string().regex(/^(?!0{32})[0-9a-f]{32}$/);
const SpanId = z.string().regex(/^(?!0{16})[0-9a-f]{16}$/);

/**
 * The place of a span in a trace of OpenTelemetry. Ids are lower-case hexadecimal numbers, as in W3C Trace Context.
 *
 * Only spans that are recorded have one: work that sampling leaves out has no place.
 */
export const SpanPlace = z.object({
  traceId: TraceId,
  spanId: SpanId,
  /** Null for the first span of a trace. */
  parentId: SpanId.nullable(),
});
export type SpanPlace = z.infer<typeof SpanPlace>;

/** The content of a `traceparent` header. */
interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Version, trace id, span id and flags. Later versions may append more fields. */
const headerForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Returns the content of a `traceparent` header; undefined for a header that is absent or not well-formed. */
export function parseTraceparent(header: unknown): TraceParent | undefined {
  if (typeof header !== "string" || header.length > 512) return undefined;
  const [, version, traceId, spanId, flags, rest] = headerForm.exec(header.trim()) ?? [];
  if (version === undefined || version === "ff" || flags === undefined) return undefined;
  if (version === "00" && rest !== undefined) return undefined;
  const ids = z.object({ traceId: TraceId, spanId: SpanId }).safeParse({ traceId, spanId });
  return ids.success
    ? { ...ids.data, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
    : undefined;
}

/** Returns the `traceparent` header that makes a span the parent of what another process does. */
export function traceparentOf({ traceId, spanId }: Pick<SpanPlace, "traceId" | "spanId">): string {
  return `00-${traceId}-${spanId}-01`;
}
