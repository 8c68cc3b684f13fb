import type { Context } from "hono";
import { Fault } from "#core/fault.ts";

/** The position of a reader in a log. The log of another attempt starts from the beginning. */
export interface LogPosition {
  /** Undefined for a reader that has read nothing yet. */
  readonly attempt: number | undefined;
  /** Bytes from the beginning of that attempt's log. */
  readonly offset: number;
}

/** The id of a log event: `ATTEMPT:OFFSET`, the position where the next event begins. */
export function formatLogPosition({ attempt, offset }: LogPosition): string {
  return attempt === undefined ? String(offset) : `${attempt}:${offset}`;
}

/** Throws `invalid_argument` for an invalid position. */
export function parseLogPosition(text: string): LogPosition {
  const match = /^(?:(\d{1,9}):)?(\d{1,15})$/.exec(text);
  if (match === null) {
    throw new Fault(
      "invalid_argument",
      `"${text}" is not a position in a log; write ATTEMPT:OFFSET or OFFSET`,
    );
  }
  const [, attempt, offset] = match;
  return {
    attempt: attempt === undefined ? undefined : Number(attempt),
    offset: Number(offset),
  };
}

/** Returns the reader's last position, from its last event or from `?offset=` and `?attempt=`. */
export function logPositionOf(c: Context): LogPosition {
  const lastEvent = c.req.header("last-event-id");
  const attempt = c.req.query("attempt");
  const offset = c.req.query("offset") ?? "0";
  if (lastEvent !== undefined) return parseLogPosition(lastEvent);
  return parseLogPosition(attempt === undefined ? offset : `${attempt}:${offset}`);
}
