import { useEffect, useState } from "react";
import { LogMatches } from "#api/log.ts";
import { failureOf, reach } from "../../farm/ask.ts";
import { atLog } from "./at-log.ts";

/** The most matches that the page holds. */
const most = 10_000;
/** While somebody types, only the last text is searched. */
const typingPauseMs = 150;
/** How often a log that grows is searched again, in ms. */
const growthPauseMs = 1_000;

/** What a search found so far. */
export interface FoundLines {
  readonly state: "none" | "searching" | "found" | "failed";
  /** Lines, from 1. */
  readonly lines: readonly number[];
  /** There are more matches than the page holds. */
  readonly hasMore: boolean;
  readonly message: string;
}

const nothing: FoundLines = { state: "none", lines: [], hasMore: false, message: "" };

interface SearchedLog {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** The number of lines; a higher one starts a search in the lines that were added. */
  readonly count: number;
  readonly isLive: boolean;
}

/** Returns the lines of a log that contain a text: the server searches, also in lines that arrive later. */
export function useLogSearch(log: SearchedLog, query: string): FoundLines {
  const { url, headers, isLive } = log;
  const [found, setFound] = useState<{ readonly of: string; readonly lines: FoundLines }>();
  const of = `${url} ${query}`;
  // A log that is complete is searched once.
  const grown = isLive ? log.count : 0;
  const known = found?.of === of ? found.lines : undefined;
  const from = known?.state === "found" ? Math.max(1, searchedTo(known, log.count)) : 1;

  useEffect(() => {
    if (query === "") return;
    const abort = new AbortController();
    const search = async () => {
      const matches = await searchLog(url, { text: query, from, most }, headers, abort.signal);
      setFound((before) => {
        const earlier = from > 1 && before?.of === of ? before.lines.lines : [];
        const lines = [...earlier.filter((line) => line < from), ...matches.lines].slice(0, most);
        const hasMore = matches.next !== null;
        return { of, lines: { state: "found", lines, hasMore, message: "" } };
      });
    };
    const failed = (reason: unknown) => {
      if (abort.signal.aborted) return;
      const message = reason instanceof Error ? reason.message : String(reason);
      setFound({ of, lines: { ...nothing, state: "failed", message } });
    };
    const pauseMs = from > 1 ? growthPauseMs : typingPauseMs;
    const timer = window.setTimeout(() => void search().catch(failed), pauseMs);
    return () => {
      window.clearTimeout(timer);
      abort.abort();
    };
    // oxlint-disable-next-line react/exhaustive-deps -- `from` follows from what was found before
  }, [url, headers, query, grown]);

  if (query === "") return nothing;
  return known ?? { ...nothing, state: "searching" };
}

/** Returns the line from which a search continues: the last match is searched again, because it may have been unfinished. */
function searchedTo(known: FoundLines, count: number): number {
  return known.hasMore ? count : (known.lines.at(-1) ?? 1);
}

/** Asks the server for lines that match. */
export async function searchLog(
  url: string,
  query: Readonly<Record<string, string | number>>,
  headers: Readonly<Record<string, string>> | undefined,
  signal?: AbortSignal,
): Promise<LogMatches> {
  const init = { ...(signal && { signal }), ...(headers && { headers }) };
  const answer = await reach(atLog(url, "/search", query), init);
  if (!answer.ok) throw await failureOf(answer);
  return LogMatches.parse(await answer.json());
}
