import type { LogPiece } from "../log-piece.ts";
import type { Look, ServerEvent } from "./event-stream.ts";
import { formatLogPosition, type LogPosition } from "./log-position.ts";
import { decodeUtf8Prefix } from "./utf8-prefix.ts";

/** Large enough to be fast, small enough for a browser to display at once. */
export const mostLogBytesPerEvent = 256 * 1024;

/**
 * Sends a follower of a log the part that it has not seen.
 *
 * When another attempt has started, it sends `restart` and continues at offset 0, because the follower has the log of
 * an attempt that failed.
 */
export function logEvents(
  read: (offset: number) => Promise<LogPiece>,
  from: LogPosition,
): () => Promise<Look> {
  let { attempt, offset } = from;

  return async () => {
    const events: ServerEvent[] = [];
    for (;;) {
      const piece = await read(offset);
      if (attempt !== undefined && piece.attempt !== attempt) {
        attempt = piece.attempt;
        offset = 0;
        const id = formatLogPosition({ attempt, offset });
        events.push({ event: "restart", id, data: { attempt } });
        continue;
      }
      attempt = piece.attempt;
      const isFull = piece.bytes.length >= mostLogBytesPerEvent;
      const { text, bytes } = decodeUtf8Prefix(piece.bytes, piece.complete && !isFull);
      if (bytes > 0) {
        const id = formatLogPosition({ attempt, offset: offset + bytes });
        events.push({ event: "log", id, data: { offset, text } });
        offset += bytes;
      }
      if (!isFull) return { events, over: piece.complete };
    }
  };
}
