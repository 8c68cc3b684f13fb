import { LogIndex, LogMatches, mostLogBytes } from "#api/log.ts";
import { findErrorLines } from "#core/error-lines.ts";
import { shownLogLine } from "#core/shown-log-line.ts";
import type { ApiClient } from "../api/api-client.ts";
import type { LogAddresses } from "../log-lines.ts";

type Api = Pick<ApiClient, "logAt" | "get">;

/** A line of a log. Numbers count from 1. */
interface LogLine {
  readonly line: number;
  readonly text: string;
}

/** Bytes of a log that one excerpt reads at most: a part of a log with very long lines must not fill the memory. */
const mostExcerptBytes = 2 * mostLogBytes;

/** Matches that the server counts in one call. */
const mostCounted = 10_000;

interface LogEnd {
  readonly lines: readonly LogLine[];
  readonly totalLines: number;
}

/** Returns the last lines of a log. Reads only the blocks that contain them. */
export async function endOfLog(api: Api, addresses: LogAddresses, most: number): Promise<LogEnd> {
  const index = await api.get(LogIndex, addresses.index);
  const from = Math.max(1, index.lines - most + 1);
  return { lines: await readLines(api, addresses, index, from, most), totalLines: index.lines };
}

/** Returns lines from a number on. Reads only the blocks that contain them. */
export async function linesFrom(
  api: Api,
  addresses: LogAddresses,
  from: number,
  most: number,
): Promise<LogEnd> {
  const index = await api.get(LogIndex, addresses.index);
  return { lines: await readLines(api, addresses, index, from, most), totalLines: index.lines };
}

/** A line that matches, with the lines before and after it. */
interface LogMatch extends LogLine {
  readonly before: readonly LogLine[];
  readonly after: readonly LogLine[];
}

interface LogSearch {
  readonly matches: readonly LogMatch[];
  /** The number of lines that match; a lower bound unless `isExact`. */
  readonly totalMatches: number;
  readonly isExact: boolean;
}

/** Finds the lines that contain a text, in upper or lower case. The server searches; the text is not a pattern. */
export async function searchLog(
  api: Api,
  addresses: LogAddresses,
  text: string,
  { context, most }: { readonly context: number; readonly most: number },
): Promise<LogSearch> {
  const found = await api.get(LogMatches, addresses.search({ text, most: String(mostCounted) }));
  const wanted = found.lines.slice(0, most);
  const index = wanted.length === 0 ? undefined : await api.get(LogIndex, addresses.index);
  const matches: LogMatch[] = [];
  for (const { from, count, lines: numbers } of readingsOf(wanted, context)) {
    const lines = index === undefined ? [] : await readLines(api, addresses, index, from, count);
    const near = (first: number, last: number) =>
      lines.filter(({ line }) => line >= first && line <= last);
    for (const number of numbers) {
      const [match] = near(number, number);
      if (match === undefined) continue;
      const before = near(number - context, number - 1);
      matches.push({ ...match, before, after: near(number + 1, number + context) });
    }
  }
  return { matches, totalMatches: found.lines.length, isExact: found.next === null };
}

/** Lines at the end of a log in which the error is looked for first. */
const errorLinesAtEnd = 400;

interface LogOfFailure extends LogEnd {
  /** The line of the error; undefined when none looks like one. */
  readonly errorLine: LogLine | undefined;
}

/** What is shown where a failure has no log. */
export const noLog: LogOfFailure = { lines: [], totalLines: 0, errorLine: undefined };

/**
 * Returns the last lines of the log of a failure, and the line of the error.
 *
 * The rule for the end of a log knows the forms of many tools. When it finds nothing there, the server searches the
 * whole log by the general rule.
 */
export async function logOfFailure(
  api: Api,
  addresses: LogAddresses,
  most: number,
): Promise<LogOfFailure> {
  const end = await endOfLog(api, addresses, Math.max(most, errorLinesAtEnd));
  const [at] = findErrorLines(end.lines.map(({ text }) => text));
  const errorLine = at === undefined ? await firstErrorLine(api, addresses) : end.lines[at];
  return { ...end, lines: most === 0 ? [] : end.lines.slice(-most), errorLine };
}

async function firstErrorLine(api: Api, addresses: LogAddresses): Promise<LogLine | undefined> {
  const found = await api.get(LogMatches, addresses.search({ errors: "true", most: "1" }));
  const [first] = found.lines;
  if (first === undefined) return undefined;
  return (await linesFrom(api, addresses, first, 1)).lines[0];
}

interface Reading {
  readonly from: number;
  readonly count: number;
  /** The matching lines of this part. */
  readonly lines: readonly number[];
}

/** Lines between two matches that are read too, because one call is cheaper than two. */
const mostBetween = 200;

/** Groups matches, with the lines around them, into parts of the log to read. The matches are in ascending order. */
export function readingsOf(matches: readonly number[], context: number): Reading[] {
  const readings: { from: number; last: number; lines: number[] }[] = [];
  for (const line of matches) {
    const from = Math.max(1, line - context);
    const current = readings.at(-1);
    if (current !== undefined && from <= current.last + mostBetween) {
      current.last = line + context;
      current.lines.push(line);
    } else readings.push({ from, last: line + context, lines: [line] });
  }
  return readings.map(({ from, last, lines }) => ({ from, count: last - from + 1, lines }));
}

/** Reads whole lines through the index: from the block that contains the first to that of the last. */
async function readLines(
  api: Api,
  { log }: LogAddresses,
  { blocks, bytes: size }: LogIndex,
  from: number,
  count: number,
): Promise<LogLine[]> {
  if (count <= 0) return [];
  const [before, start] = blocks.findLast(([lines]) => lines < from) ?? [0, 0];
  const end = blocks.find(([lines]) => lines >= from + count - 1)?.[1] ?? size;
  const parts: Uint8Array[] = [];
  let offset = start;
  while (offset < Math.min(end, start + mostExcerptBytes)) {
    const limit = Math.min(end - offset, mostLogBytes);
    const { bytes, nextOffset } = await api.logAt(log(limit), offset);
    if (bytes.length === 0) break;
    parts.push(bytes);
    offset = nextOffset;
  }
  const texts = new TextDecoder().decode(Buffer.concat(parts)).split("\n");
  // The text after the last line break is a line only when it is not empty.
  if (texts.at(-1) === "") texts.pop();
  const skip = from - 1 - before;
  return texts
    .slice(skip, skip + count)
    .map((text, at) => ({ line: from + at, text: shownLogLine(text) }));
}

export function numbered({ line, text }: LogLine, mark = " "): string {
  return `${mark}${String(line).padStart(6)}  ${text}`;
}
