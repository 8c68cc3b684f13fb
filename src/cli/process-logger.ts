import { type DestinationStream, destination, type Logger, pino } from "pino";

export interface ProcessLogger {
  readonly logger: Logger;
  /** Writes everything in memory; call it at the very end. */
  readonly flush: () => void;
}

/** JSON lines to stderr, for a process that a person or `grange up` started. */
export function processLogger(level: string, name: string): ProcessLogger {
  const stderr = destination({ dest: 2, sync: false });
  const logger = pino({ level, base: { name, pid: process.pid } }, stderr as DestinationStream);
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
