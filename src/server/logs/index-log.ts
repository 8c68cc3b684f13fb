import type { LogIndex } from "#api/log.ts";
import { LogGroups, longestGroupMark } from "#core/log-groups.ts";
import { longestNote, mostNotes, noteStart } from "#core/log-notes.ts";
import { turns } from "#scheduling/turns.ts";
import { nextNewline } from "./next-newline.ts";
import { type ReadLog, wholeLines } from "./whole-lines.ts";

/** Bytes between two entries of an index, plus the rest of a line. */
const blockBytes = 128 * 1024;
const newline = 0x0a;

/** An index, and where to continue when the log has grown. */
export interface IndexSoFar {
  readonly index: LogIndex;
  /** The beginning of the last line, in bytes, and the number of lines before it. */
  readonly offset: number;
  readonly lines: number;
  /** The line that begins the group which has not ended. */
  readonly openGroup: number | undefined;
}

/**
 * Counts the lines of a log from where the last count ended, and records where blocks of them begin.
 *
 * It reads each byte once, in turns with other work; the index has an entry for each 128 KiB.
 */
export async function indexLog(read: ReadLog, before: IndexSoFar | undefined): Promise<IndexSoFar> {
  const turn = turns();
  const blocks: [number, number][] = [...(before?.index.blocks ?? [[0, 0] as [number, number]])];
  const notes = [...(before?.index.notes ?? [])];
  const groups = new LogGroups({
    closed: before?.index.groups ?? [],
    open: before?.openGroup,
  });
  let lines = before?.lines ?? 0;
  let lineStart = before?.offset ?? 0;
  let blockStart = blocks.at(-1)?.[1] ?? 0;
  const beginLine = (bytes: Uint8Array, at: number) => {
    if (mayMarkGroup(bytes[at])) groups.line(lines + 1, startOf(bytes, at, longestGroupMark));
    const text = bytes[at] === noteStart.charCodeAt(0) ? noteAt(bytes, at) : undefined;
    if (text !== undefined && notes.length < mostNotes && notes.at(-1)?.line !== lines + 1)
      notes.push({ line: lines + 1, text });
  };
  const parts = wholeLines(read, lineStart);
  for (;;) {
    const { done, value } = await parts.next();
    if (done === true) {
      const { end: bytes, complete, attempt } = value;
      const shown = lines + (bytes > lineStart ? 1 : 0);
      const index = {
        attempt,
        complete,
        bytes,
        lines: shown,
        blocks,
        notes,
        groups: groups.closed,
      };
      return { index, offset: lineStart, lines, openGroup: groups.open };
    }
    const { offset, bytes, beginsLine } = value;
    if (beginsLine) beginLine(bytes, 0);
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = nextNewline(buffer, 0); at !== -1; at = nextNewline(buffer, at + 1)) {
      lines += 1;
      lineStart = offset + at + 1;
      if (at + 1 < bytes.length) beginLine(bytes, at + 1);
      if (lineStart - blockStart < blockBytes) continue;
      blocks.push([lines, lineStart]);
      blockStart = lineStart;
    }
    await turn();
  }
}

/** Whether the first byte of a line is `#` or `:`. */
function mayMarkGroup(first: number | undefined): boolean {
  return first === 0x23 || first === 0x3a;
}

function startOf(bytes: Uint8Array, at: number, length: number): string {
  return Buffer.from(bytes.subarray(at, at + length)).toString("latin1");
}

/** Returns the line that begins there if the farm writes such lines. */
function noteAt(bytes: Uint8Array, at: number): string | undefined {
  const line = Buffer.from(bytes.subarray(at, at + longestNote));
  const end = line.indexOf(newline);
  const text = line.subarray(0, end === -1 ? line.length : end).toString();
  return text.startsWith(noteStart) ? text : undefined;
}
