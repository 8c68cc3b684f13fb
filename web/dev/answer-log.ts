import type { ServerResponse } from "node:http";
import type { LogIndex, LogMatches } from "#api/log.ts";
import { isErrorLine } from "#core/marked-error.ts";
import { incompleteTail } from "../pages/log/incomplete-tail.ts";
import { plainText } from "../pages/log/tokenize-line.ts";
import type { FakeFarm } from "./fake-farm.ts";
import { sendEvents } from "./send-events.ts";

/** The part of a log in one answer: small, so that long logs take several. */
const largestShare = 1024 * 1024;

const smallBlock = 16 * 1024;

type Log = ReturnType<FakeFarm["log"]>;

/** Answers with a part of the log's existing bytes. */
function answerLog(log: Log, offset: number, limit: number, response: ServerResponse): void {
  const share = log.bytes.subarray(offset, offset + Math.min(limit || largestShare, largestShare));
  const next = offset + share.length;
  response.setHeader("x-next-offset", String(next));
  response.setHeader("x-log-complete", String(log.complete && next === log.bytes.length));
  response.setHeader("content-type", "text/plain; charset=utf-8");
  response.end(share);
}

/** Answers where the lines of the log are. Its blocks are small, so that a test sees several. */
function answerLogIndex(log: Log, response: ServerResponse): void {
  const blocks: [number, number][] = [[0, 0]];
  const text = log.bytes.toString("latin1");
  let lines = 0;
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) {
    lines += 1;
    if (end + 1 - (blocks.at(-1)?.[1] ?? 0) >= smallBlock) blocks.push([lines, end + 1]);
  }
  const written = text.split("\n");
  const starts = (...words: readonly string[]) =>
    written.flatMap((line, at) => (words.some((word) => line.startsWith(word)) ? [at + 1] : []));
  const ends = starts("##[endgroup]", "::endgroup::");
  const index: LogIndex = {
    attempt: 1,
    complete: log.complete,
    bytes: text.length,
    lines: lines + (text === "" || text.endsWith("\n") ? 0 : 1),
    blocks,
    notes: starts("[grange: ").map((line) => ({ line, text: written[line - 1] ?? "" })),
    groups: starts("##[group]", "::group::").flatMap((title, at) =>
      ends[at] === undefined ? [] : [[title, ends[at]]],
    ),
  };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(index));
}

/** Answers which lines contain a text, or tell of an error. */
function answerLogSearch(log: Log, query: URLSearchParams, response: ServerResponse): void {
  const text = query.get("text")?.toLowerCase();
  const most = Number(query.get("most") ?? 1_000);
  const matches = log.bytes
    .toString()
    .split("\n")
    .flatMap((raw, at) => {
      const line = plainText(raw);
      const isMatch = text === undefined ? isErrorLine(line) : line.toLowerCase().includes(text);
      return isMatch && at + 1 >= Number(query.get("from") ?? 1) ? [at + 1] : [];
    });
  const answer: LogMatches = { lines: matches.slice(0, most), next: matches[most] ?? null };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(answer));
}

/** Streams the log as it grows. */
function answerLogEvents(
  farm: FakeFarm,
  log: Log,
  from: number,
  response: ServerResponse,
  streams: Set<ServerResponse>,
): void {
  let offset = from;
  sendEvents(farm, response, streams, (send, end) => {
    // An incomplete character waits for its remaining bytes.
    const whole = log.bytes.length - (log.complete ? 0 : incompleteTail(log.bytes));
    if (whole > offset) {
      send({ event: "log", data: { offset, text: log.bytes.subarray(offset, whole).toString() } });
      offset = whole;
    }
    if (log.complete) {
      send({ event: "end", data: {} });
      end();
    }
  });
}

/** Answers a request for a log: for a part of it, or what follows `/log/` in the address. */
export function answerPartOfLog(request: {
  readonly farm: FakeFarm;
  readonly log: Log;
  readonly part: string | undefined;
  readonly url: URL;
  readonly response: ServerResponse;
  readonly streams: Set<ServerResponse>;
}): void {
  const { farm, log, part, url, response, streams } = request;
  const number = (name: string) => Number(url.searchParams.get(name) ?? 0);
  if (part === "events") return answerLogEvents(farm, log, number("offset"), response, streams);
  if (part === "index") return answerLogIndex(log, response);
  if (part === "search") return answerLogSearch(log, url.searchParams, response);
  return answerLog(log, number("offset"), number("limit"), response);
}
