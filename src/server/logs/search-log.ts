import type { LogMatches } from "#api/log.ts";
import { commandStart, errorLineSource } from "#core/marked-error.ts";
import { turns } from "#scheduling/turns.ts";
import { countNewlines } from "./next-newline.ts";
import { type ReadLog, wholeLines } from "./whole-lines.ts";

interface LogSearch {
  /** A text, in which case is ignored; undefined: lines that tell of an error, by the general rule. */
  readonly text: string | undefined;
  /** The first line that counts, from 1. */
  readonly from: number;
  /** The most lines in the answer. */
  readonly most: number;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
}

/** The end of a part of a line that is searched again with the next part, for a text that lies across both. */
const overlap = 1_024;

const escapeSequences =
  // oxlint-disable-next-line no-control-regex
  /\u001b(?:\[[0-9;:?]{0,64}[ -/]{0,4}[@-~]|\][^\u0007\u001b\n]{0,1024}(?:\u0007|\u001b\\)?)/g;

/**
 * Finds the lines of a log, as it is now, that contain a text.
 *
 * It reads the log in parts of at most 5 MiB, from the beginning of a block of the index, in turns with other work.
 * Escape sequences do not count: a text is found across a change of colour.
 *
 * @param start lines before a block, and the offset of the block in bytes
 */
export async function searchLog(
  read: ReadLog,
  [lineOfStart, offset]: readonly [number, number],
  { text, from, most, signal }: LogSearch,
): Promise<LogMatches> {
  const turn = turns();
  const { pattern, encoding } = patternOf(text);
  const found: number[] = [];
  let line = lineOfStart + 1;
  let before = "";
  for await (const part of wholeLines(read, offset)) {
    if (signal?.aborted === true) break;
    const decoded = textOf(part.bytes, encoding);
    const searched = part.beginsLine ? decoded : before + decoded;
    for (const at of linesWith(searched, pattern, text === undefined)) {
      const number = line + at;
      if (number < from || number === found.at(-1)) continue;
      if (found.length >= most) return { lines: found, next: number };
      found.push(number);
    }
    line += countNewlines(searched, 0, searched.length);
    before = searched.endsWith("\n") ? "" : searched.slice(-overlap);
    await turn();
  }
  return { lines: found, next: null };
}

function patternOf(text: string | undefined): { pattern: RegExp; encoding: "latin1" | "utf8" } {
  if (text === undefined) return { pattern: new RegExp(errorLineSource, "gm"), encoding: "latin1" };
  const literal = text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
  // oxlint-disable-next-line no-control-regex
  const isAscii = /^[\u0000-\u007f]*$/.test(text);
  // Bytes as characters are four times as fast to make and to search as decoded text.
  return isAscii
    ? { pattern: new RegExp(literal, "gi"), encoding: "latin1" }
    : { pattern: new RegExp(literal, "gi"), encoding: "utf8" };
}

function textOf(bytes: Uint8Array, encoding: "latin1" | "utf8"): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString(encoding);
  return buffer.includes(0x1b) ? text.replace(escapeSequences, "") : text;
}

/** Yields the lines that match, from 0, each once. */
function* linesWith(text: string, pattern: RegExp, skipsCommands: boolean): Generator<number> {
  let line = 0;
  let counted = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    line += countNewlines(text, counted, match.index);
    counted = match.index;
    const start = text.lastIndexOf("\n", match.index - 1) + 1;
    if (!(skipsCommands && match.index > 0 && text.startsWith(commandStart, start))) yield line;
    const end = text.indexOf("\n", match.index);
    if (end === -1) return;
    pattern.lastIndex = end;
  }
}
