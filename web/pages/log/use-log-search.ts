import { useEffect, useRef, useState } from "react";
import { LogSearch } from "./find-in-log.ts";
import type { LogLines } from "./log-lines.ts";

interface Found {
  readonly query: string;
  readonly lines: LogLines;
  readonly matches: readonly number[];
}

const nothing: readonly number[] = [];

/** Returns the lines that contain a text, found slice by slice, also in lines that arrive later. */
export function useLogSearch(lines: LogLines, revision: number, query: string): readonly number[] {
  const [found, setFound] = useState<Found>();
  const running = useRef<{ query: string; lines: LogLines; search: LogSearch }>(undefined);

  useEffect(() => {
    if (query === "") return;
    if (running.current?.query !== query || running.current.lines !== lines) {
      running.current = { query, lines, search: new LogSearch(query) };
    }
    const { search } = running.current;
    const advance = () => {
      const done = search.advance(lines);
      setFound({ query, lines, matches: [...search.matches] });
      if (!done) timer = window.setTimeout(advance);
    };
    let timer = window.setTimeout(advance);
    return () => window.clearTimeout(timer);
    // A new revision means new lines.
  }, [lines, revision, query]);

  return found?.query === query && found.lines === lines ? found.matches : nothing;
}
