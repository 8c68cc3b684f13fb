import { type DestinationStream, destination, type Logger, pino } from "pino";
import { activeSpan } from "#tracing/active-span.ts";

export interface ProcessLogger {
  readonly logger: Logger;
  /** Writes everything in memory; call it at the very end. */
  readonly flush: () => void;
}

/** JSON lines to stderr, for a process that a person or `grange up` started. */
export function processLogger(level: string, name: string): ProcessLogger {
  const stderr = destination({ dest: 2, sync: false });
  const logger = pino(
    { level, base: { name, pid: process.pid }, mixin: placeInTrace },
    stderr as DestinationStream,
  );
  return {
    logger,
    flush() {
      try {
        stderr.flushSync();
      } catch {
        // Nothing was written yet, so nothing is lost.
      }
    },
  };
}

/** Names the span of the work that writes a line, so that lines are found by their trace. */
function placeInTrace(): object {
  const span = activeSpan();
  return span === undefined ? {} : { traceId: span.place.traceId, spanId: span.place.spanId };
}
