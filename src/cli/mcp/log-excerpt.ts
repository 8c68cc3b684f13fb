import { pathOfCall } from "#api/endpoint.ts";
import { executionEndpoints } from "#api/endpoints/execution-endpoints.ts";
import { jobEndpoints } from "#api/endpoints/job-endpoints.ts";
import { findErrorLines } from "#core/error-lines.ts";
import { shownLogLine } from "#core/shown-log-line.ts";
import type { ApiClient, RunAddress } from "../api/api-client.ts";

/** A line of a log. Numbers count from 1. */
interface LogLine {
  readonly line: number;
  readonly text: string;
}

/** Returns the address of a run's log. */
export function addressOfRunLog({ graph, job, run, batch }: RunAddress): string {
  return pathOfCall(
    jobEndpoints.runLog,
    { graph, job, run: String(run) },
    batch === undefined ? {} : { batch: String(batch) },
  );
}

/** Returns the address of what an execution wrote. */
export function addressOfExecutionLog(execution: string, stream: "stdout" | "stderr"): string {
  return pathOfCall(executionEndpoints.executionLog, { execution }, { stream });
}

/** Yields the lines of a log, in batches of one answer of the server. */
export async function* logLines(
  api: Pick<ApiClient, "logAt">,
  address: string,
): AsyncGenerator<readonly LogLine[]> {
  const decoder = new TextDecoder();
  let rest = "";
  let line = 0;
  for (let offset = 0; ; ) {
    const { bytes, nextOffset } = await api.logAt(address, offset);
    const isEnd = bytes.length === 0 || nextOffset <= offset;
    const texts = (rest + decoder.decode(bytes, { stream: !isEnd })).split("\n");
    rest = isEnd ? "" : (texts.pop() ?? "");
    // The text after the last line break of a log is a line only when it is not empty.
    if (isEnd && texts.at(-1) === "") texts.pop();
    yield texts.map((text) => ({ line: ++line, text: shownLogLine(text) }));
    if (isEnd) return;
    offset = nextOffset;
  }
}

interface LogEnd {
  readonly lines: readonly LogLine[];
  readonly totalLines: number;
}

/** Returns the last lines of a log. */
export async function endOfLog(
  api: Pick<ApiClient, "logAt">,
  address: string,
  most: number,
): Promise<LogEnd> {
  let lines: readonly LogLine[] = [];
  let totalLines = 0;
  for await (const batch of logLines(api, address)) {
    totalLines = batch.at(-1)?.line ?? totalLines;
    lines = [...lines.slice(-most), ...batch.slice(-most)].slice(-most);
  }
  return { lines, totalLines };
}

/** Returns lines from a number on. Stops to read when it has them. */
export async function linesFrom(
  api: Pick<ApiClient, "logAt">,
  address: string,
  from: number,
  most: number,
): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  for await (const batch of logLines(api, address)) {
    lines.push(...batch.filter(({ line }) => line >= from && line < from + most));
    if ((batch.at(-1)?.line ?? 0) >= from + most) break;
  }
  return lines;
}

/** A line that contains the text, with the lines before and after it. */
interface LogMatch extends LogLine {
  readonly before: readonly LogLine[];
  readonly after: readonly LogLine[];
}

interface LogSearch {
  readonly matches: readonly LogMatch[];
  readonly totalMatches: number;
}

/** Finds the lines that contain a text, in upper or lower case. The text is not a pattern. */
export async function searchLog(
  api: Pick<ApiClient, "logAt">,
  address: string,
  text: string,
  { context, most }: { readonly context: number; readonly most: number },
): Promise<LogSearch> {
  const wanted = text.toLowerCase();
  const matches: { readonly match: LogLine; readonly before: LogLine[]; after: LogLine[] }[] = [];
  let recent: LogLine[] = [];
  let totalMatches = 0;
  for await (const batch of logLines(api, address)) {
    for (const each of batch) {
      for (const { match, after } of matches.slice(-context - 1)) {
        if (each.line > match.line && each.line <= match.line + context) after.push(each);
      }
      if (each.text.toLowerCase().includes(wanted)) {
        totalMatches += 1;
        if (matches.length < most) matches.push({ match: each, before: recent, after: [] });
      }
      recent = context === 0 ? [] : [...recent.slice(1 - context), each].slice(-context);
    }
  }
  return {
    matches: matches.map(({ match, before, after }) => ({ ...match, before, after })),
    totalMatches,
  };
}

/** Returns the first line of the error; undefined when none looks like one. */
export function probableErrorLine(lines: readonly LogLine[]): LogLine | undefined {
  const [first] = findErrorLines(lines.map(({ text }) => text));
  return first === undefined ? undefined : lines[first];
}

export function numbered({ line, text }: LogLine, mark = " "): string {
  return `${mark}${String(line).padStart(6)}  ${text}`;
}
