import { mostLogBytes } from "#api/log.ts";
import type { LogPiece } from "../log-piece.ts";

/** Reads a log from an offset: at most so many bytes. */
export type ReadLog = (offset: number, most: number) => Promise<LogPiece>;

/** Consecutive bytes of a log. */
interface LogLinesPart {
  /** In bytes. */
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** Whether a line begins at the offset: false within a line that is longer than 1 MiB. */
  readonly beginsLine: boolean;
}

/** The end of the part of a log that exists now. */
interface LogPartEnd {
  /** In bytes. */
  readonly end: number;
  readonly complete: boolean;
  readonly attempt: number;
}

/** A longer line is divided, so that memory stays limited. */
const mostOfALine = 1024 * 1024;

/**
 * Yields the existing bytes of a log from an offset where a line begins. Each part ends with a line, except within a
 * line that is longer than 1 MiB, and at the end of the log.
 *
 * The log of another attempt ends the reading early: its bytes would follow those of the first.
 */
export async function* wholeLines(
  read: ReadLog,
  from: number,
): AsyncGenerator<LogLinesPart, LogPartEnd> {
  let offset = from;
  let held: Uint8Array = new Uint8Array();
  let beginsLine = true;
  let attempt: number | undefined;
  for (;;) {
    const piece = await read(offset + held.length, mostLogBytes);
    attempt ??= piece.attempt;
    const isOther = piece.attempt !== attempt;
    const fresh = isOther ? new Uint8Array() : piece.bytes;
    const all = held.length === 0 ? fresh : Buffer.concat([held, fresh]);
    const isLast = fresh.length === 0;
    const lineEnd = all.lastIndexOf(0x0a) + 1;
    const end = isLast || (lineEnd === 0 && all.length >= mostOfALine) ? all.length : lineEnd;
    if (end > 0) {
      yield { offset, bytes: all.subarray(0, end), beginsLine };
      beginsLine = all[end - 1] === 0x0a;
      offset += end;
    }
    if (isLast) return { end: offset, complete: piece.complete && !isOther, attempt };
    held = all.subarray(end);
  }
}
